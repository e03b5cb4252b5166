# NVIDIA's own client does with a cluster what its users do, and reads and writes objects that warp does as well.
# Arguments: the URL of the cluster, the bucket that warp has written to, and the URL of a cluster that wants a token.
import sys

from aistore.sdk import Client
from aistore.sdk.errors import AISError, ErrBckAlreadyExists, ErrBckNotFound, ErrObjNotFound
from aistore.sdk.list_object_flag import ListObjectFlag

url, warps, guarded, token = sys.argv[1:]


def refused(kind, call):
    try:
        call()
    except kind as err:
        return str(err)
    raise AssertionError("no " + kind.__name__)


client = Client(url)
assert client.cluster().is_ready()
assert "standin" == client.cluster().get_uuid()

bucket = client.bucket("python").create()
refused(ErrBckAlreadyExists, lambda: client.bucket("python").create())
refused(AISError, lambda: client.bucket("missing").head())
refused(ErrBckNotFound, lambda: client.bucket("missing").list_objects())
assert "python" in [b.name for b in client.cluster().list_buckets()]
assert '"mirror"' in bucket.head()["ais-bucket-props"]

content = bytes(range(256)) * 1000
writer = bucket.object("dir/by python ü").get_writer()
answer = writer.put_content(content)
assert answer.headers["ais-checksum-type"] == "xxhash2", answer.headers
writer.set_custom_props({"color": "red"})

read = bucket.object("dir/by python ü")
assert read.get_reader().read_all() == content
assert read.get_reader(byte_range="bytes=1000-1999").read_all() == content[1000:2000]
props = read.props
assert props.size == len(content) and props.checksum_value and props.obj_version == "1", vars(props)
assert props.custom_metadata == {"color": "red"}, props.custom_metadata
refused(ErrObjNotFound, lambda: bucket.object("missing").get_reader().read_all())

for i in range(25):
    bucket.object(f"page/{i:02}").get_writer().put_content(b"x" * i)
page = bucket.list_objects(prefix="page/", page_size=10)
assert len(page.entries) == 10 and page.continuation_token
names = [o.name for o in bucket.list_all_objects(prefix="page/", page_size=10)]
assert names == [f"page/{i:02}" for i in range(25)], names
sizes = {o.name: o.size for o in bucket.list_objects_iter(prefix="page/", props="name,size,checksum,atime,version")}
assert sizes["page/24"] == 24, sizes
flat = [o.name for o in bucket.list_all_objects(flags=[ListObjectFlag.NO_RECURSION])]
assert flat == ["dir/", "page/"], flat

job = bucket.objects(obj_names=[f"page/{i:02}" for i in range(20)]).delete()
client.job(job, job_kind="delete-listrange").wait()
assert len(bucket.list_all_objects(prefix="page/")) == 5
bucket.object("page/24").delete()
refused(ErrObjNotFound, lambda: bucket.object("page/24").delete())

message = refused(AISError, lambda: client.etl("not-on-k8s").init(image="docker.io/aistorage/transformer_md5:latest"))
assert "requires Kubernetes" in message, message

other = client.bucket("removed").create()
other.delete()
refused(ErrBckNotFound, lambda: other.list_objects())

for entry in client.bucket(warps).list_all_objects(prefix="warp/"):
    data = client.bucket(warps).object(entry.name).get_reader().read_all()
    assert data == entry.name.encode() * 100, entry.name
    print(entry.name)

refused(AISError, lambda: Client(guarded).bucket("b").create())
behind = Client(guarded, token=token).bucket("b").create()
behind.object("k").get_writer().put_content(b"with a token")
assert behind.object("k").get_reader().read_all() == b"with a token"
