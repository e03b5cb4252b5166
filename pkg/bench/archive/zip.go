package archive

import (
	"archive/zip"
	"fmt"

	"warp/pkg/generator"
)

// Zip returns a ZIP with files of the given sizes, and the keys by which a store
// offers them: KEY/FILE. It is not compressed, since the content of the files is
// random.
func Zip(key string, sizes []int64, content *generator.Reader) (files []string, body *generator.Assembly, err error) {
	body = content.Payload().NewAssembly()
	out := &withoutPayload{Assembly: body}
	zw := zip.NewWriter(out)
	for i, size := range sizes {
		name := fmt.Sprintf("%08d.rnd", i)
		files = append(files, key+"/"+name)
		id := generator.PayloadID(files[i])
		file, err := zw.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			err = zw.Flush()
		}
		if err != nil {
			return nil, nil, err
		}
		out.drop = true
		content.Reset(id, size)
		if _, err = content.WriteTo(file); err == nil {
			err = zw.Flush()
		}
		out.drop = false
		if err != nil {
			return nil, nil, err
		}
		body.WriteObject(id, size)
	}
	return files, body, zw.Close()
}

// ZipSize returns the maximum size of a ZIP with n files of a size: each has two headers and a descriptor, which name it twice.
func ZipSize(n int, size int64) int64 {
	const (
		perFile = 30 + 24 + 46 + 28 + 2*len("00000000.rnd")
		end     = 56 + 20 + 22
	)
	return int64(n)*(size+int64(perFile)) + end
}

// withoutPayload keeps the bytes that a ZIP writer writes, except the content of the
// files, which the writer needs only for its checksum.
type withoutPayload struct {
	*generator.Assembly
	drop bool
}

func (o *withoutPayload) Write(b []byte) (int, error) {
	if o.drop {
		return len(b), nil
	}
	return o.Assembly.Write(b)
}
