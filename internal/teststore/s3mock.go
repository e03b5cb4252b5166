package teststore

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
)

// jarFolder is where Maven copies an executable jar.
const jarFolder = "jar"

// s3mockArtifact is Adobe's S3Mock. Version 3 ignores ?versioning and answers with a listing.
const s3mockArtifact = "com.adobe.testing:s3mock"

// mavenPlugin downloads from Maven Central. The version is pinned, so that no newer one is used unseen.
const mavenPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"

// mavenCopy returns a function that downloads an executable jar from Maven Central, and creates a program of that name,
// which runs it. The flags of Java make it start in half the time.
func mavenCopy(name string) func(ctx context.Context, r recipe, dir string, log io.Writer) error {
	return func(ctx context.Context, r recipe, dir string, log io.Writer) error {
		jars := filepath.Join(dir, jarFolder)
		cmd := exec.CommandContext(ctx, "mvn", "--batch-mode", "--quiet", mavenPlugin, "-Dartifact="+r.source+":"+r.version+":jar:exec",
			"-DoutputDirectory="+jars, "-Dmdep.stripVersion=true", "-Dmdep.stripClassifier=true")
		if err := runQuietly(cmd, dir, log); err != nil {
			return err
		}
		return writeProgram(dir, name, "exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m -jar \"$(dirname \"$0\")/"+jarFolder+"/s3mock.jar\" \"$@\"")
	}
}

// launchS3Mock starts Adobe's S3Mock, which keeps everything in the working directory and checks no signatures. It has a second
// port, which nothing uses here. That one cannot be turned off or bound to loopback.
func (s *Store) launchS3Mock(ctx context.Context, binary string, o Options) error {
	host, port, err := s.listen()
	if err != nil {
		return err
	}
	err = s.run(binary, o.Env, "--server.address="+host, "--server.port="+port, "--server.ssl.enabled=false",
		"--com.adobe.testing.s3mock.httpPort=0", "--com.adobe.testing.s3mock.domain.root="+filepath.Join(s.dir, "data"), "--logging.level.root=WARN")
	if err != nil {
		return err
	}
	return s.awaitReady(ctx, answersAnyone(s.Endpoint))
}
