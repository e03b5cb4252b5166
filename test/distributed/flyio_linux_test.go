package distributed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"warp/internal/check"

	"golang.org/x/net/dns/dnsmessage"
)

// A flyIO simulates Fly.io. Machines are namespaces with an IPv6 address and a separate root
// directory with the content of the image. Their private DNS is a server that answers for the
// metadata of machines. It supports the options of flyctl that benchmark.sh uses; any other option
// fails the test.
type flyIO struct {
	t     *testing.T
	dir   string
	addr  string // address of this machine on the machines' network
	homes []*flyHome

	mu       sync.Mutex
	images   map[string]bool
	secrets  map[string]string
	machines []*flyMachine
	calls    []string
	runs     int // number of machines that were started
	refuse   int // the machine that cannot be started; 0 = none
}

// A flyHome is a place for a machine.
type flyHome struct {
	namespace, addr, root string
	taken                 bool
}

type flyMachine struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	State     string    `json:"state"`
	Region    string    `json:"region"`
	PrivateIP string    `json:"private_ip"`
	Config    flyConfig `json:"config"`

	named bool // it is in DNS
	home  *flyHome
	procs []*process // the first is the machine's own
}

type flyConfig struct {
	Image    string            `json:"image"`
	Metadata map[string]string `json:"metadata"`
}

// flyCommands contains the options with a value, those without, and the number of other arguments
// of a command.
var flyCommands = map[string]struct {
	values, switches   string
	minWords, maxWords int
}{
	"deploy":          {"app config image-label", "build-only push", 1, 1},
	"machine list":    {"app", "json", 0, 0},
	"machine run":     {"app region name metadata vm-size restart", "skip-dns-registration detach", 1, 9},
	"machine stop":    {"app signal timeout wait-timeout", "", 1, 99},
	"machine destroy": {"app", "force", 1, 1},
	"secrets import":  {"app", "stage", 0, 0},
	"secrets unset":   {"app", "stage", 1, 99},
	"dig":             {"app", "short", 2, 2},
	"ssh console":     {"app address command", "", 0, 0},
	"ssh sftp get":    {"app address", "", 2, 2},
}

// startFly creates places for machines.
func startFly(t *testing.T, homes int) *flyIO {
	t.Helper()
	f := &flyIO{t: t, dir: t.TempDir(), images: map[string]bool{"registry.fly.io/warp-benchmark:given": true}, secrets: map[string]string{}}
	// A foreign machine, which must not be changed.
	f.machines = []*flyMachine{{ID: "other", State: "started", Region: "iad", PrivateIP: "fd00::1", Config: flyConfig{Image: "other"}}}
	f.network(homes)
	f.serveDNS()
	l, err := net.Listen("unix", filepath.Join(f.dir, "socket"))
	check.OK(t, err)
	server := &http.Server{Handler: f}
	go server.Serve(l)
	self, err := os.Executable()
	check.OK(t, err)
	check.OK(t, os.Symlink(self, filepath.Join(f.dir, "flyctl")))
	t.Cleanup(func() {
		_ = server.Close()
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, m := range f.machines {
			m.kill()
		}
	})
	return f
}

// network creates a bridge and the namespaces on it.
func (f *flyIO) network(homes int) {
	f.t.Helper()
	id := fmt.Sprintf("f%d", os.Getpid()%10000)
	prefix := fmt.Sprintf("fd77:%x::", os.Getpid()&0xffff)
	f.addr = prefix + "1"
	var undo []string
	f.t.Cleanup(func() {
		for _, line := range slices.Backward(undo) {
			_ = system(line)
		}
	})
	do := func(line, back string) {
		if err := system(line); err != nil {
			f.t.Skipf("SKIPPED: machines of their own need root and network namespaces: %v", err)
		}
		if back != "" {
			undo = append(undo, back)
		}
	}
	do("ip link add "+id+" type bridge", "ip link del "+id)
	do("ip -6 addr add "+f.addr+"/64 dev "+id+" nodad", "")
	do("ip link set "+id+" up", "")
	for n := range homes {
		h := &flyHome{namespace: fmt.Sprintf("%sn%d", id, n), addr: fmt.Sprintf("%s%x", prefix, 16+n), root: f.t.TempDir()}
		do("ip netns add "+h.namespace, "ip netns del "+h.namespace)
		do("ip -n "+h.namespace+" link set lo up", "")
		do(fmt.Sprintf("ip link add %sv%d type veth peer name eth0 netns %s", id, n, h.namespace), fmt.Sprintf("ip link del %sv%d", id, n))
		do(fmt.Sprintf("ip link set %sv%d master %s up", id, n, id), "")
		do("ip -n "+h.namespace+" -6 addr add "+h.addr+"/64 dev eth0 nodad", "")
		do("ip -n "+h.namespace+" link set eth0 up", "")
		f.homes = append(f.homes, h)
	}
}

// writeImage puts the content of the image, and nothing else, into the root directory.
func (f *flyIO) writeImage(h *flyHome) error {
	if err := os.Chmod(h.root, 0o755); err != nil {
		return err
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	data := filepath.Join(h.root, "data")
	return errors.Join(
		os.RemoveAll(data), os.Mkdir(data, 0o755), os.Chown(data, 65532, 65532),
		os.MkdirAll(filepath.Join(h.root, "etc"), 0o755), os.MkdirAll(filepath.Join(h.root, "proc"), 0o755),
		os.WriteFile(filepath.Join(h.root, "etc/resolv.conf"), []byte("nameserver "+f.addr+"\n"), 0o644),
		os.WriteFile(filepath.Join(h.root, "warp"), program, 0o755),
	)
}

// enter starts a program on a machine, as the user of the image or, for ssh, as root.
func (f *flyIO) enter(m *flyMachine, out io.Writer, inside []string, args ...string) (*process, error) {
	script := `mount -t proc proc "$0/proc" && exec unshare --root="$0" "$@"`
	words := append([]string{"netns", "exec", m.home.namespace, "sh", "-c", script, m.home.root}, inside...)
	p := &process{cmd: exec.Command("ip", append(words, args...)...), done: make(chan struct{})}
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range f.secrets {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if out == nil {
		p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C does not reach it
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	m.procs = append(m.procs, p)
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	return p, nil
}

func (m *flyMachine) kill() {
	for _, p := range m.procs {
		p.kill()
		<-p.done
	}
}

// A flyWriter sends the output of a program to the flyctl that waits for it. The program continues
// if flyctl ends.
type flyWriter struct {
	mu sync.Mutex
	w  http.ResponseWriter
}

func (w *flyWriter) say(word flyWord) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = json.NewEncoder(w.w).Encode(word)
	_ = http.NewResponseController(w.w).Flush()
}

func (w *flyWriter) Write(b []byte) (int, error) {
	w.say(flyWord{Out: b})
	return len(b), nil
}

// A flyError is flyctl's message before it exits with 1.
type flyError string

func (e flyError) Error() string { return string(e) }

func (f *flyIO) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call flyCall
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		f.t.Error(err)
		return
	}
	out := &flyWriter{w: w}
	code := 0
	if err := f.answer(call, out); err != nil {
		code = 1
		out.say(flyWord{Err: []byte("Error: " + err.Error() + "\n")})
		if !errors.As(err, new(flyError)) {
			f.t.Errorf("flyctl %s: %v", strings.Join(call.Args, " "), err)
		}
	}
	out.say(flyWord{Code: &code})
}

// options parses the arguments of a command. An option that flyctl does not have is an error.
func options(args []string) (command string, values map[string][]string, words []string, err error) {
	for n := min(3, len(args)); n > 0; n-- {
		if command = strings.Join(args[:n], " "); flyCommands[command].values != "" {
			args = args[n:]
			break
		}
	}
	known, ok := flyCommands[command]
	if !ok {
		return "", nil, nil, errors.New("there is no such command")
	}
	values = map[string][]string{}
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		switch {
		case !isFlag:
			words = append(words, args[i])
		case slices.Contains(strings.Fields(known.switches), name):
			values[name] = nil
		case slices.Contains(strings.Fields(known.values), name) && i+1 < len(args):
			i++
			values[name] = append(values[name], args[i])
		default:
			return "", nil, nil, fmt.Errorf("there is no option --%s", name)
		}
	}
	if len(words) < known.minWords || len(words) > known.maxWords {
		return "", nil, nil, fmt.Errorf("%d words", len(words))
	}
	if app := values["app"]; len(app) != 1 || app[0] != "warp-benchmark" {
		return "", nil, nil, fmt.Errorf("app %q", app)
	}
	return command, values, words, nil
}

func (f *flyIO) answer(call flyCall, out *flyWriter) error {
	command, values, words, err := options(call.Args)
	if err != nil {
		return err
	}
	one := func(name string) string { return strings.Join(values[name], " ") }
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, strings.Join(call.Args, " "))
	if strings.HasPrefix(command, "ssh ") {
		return f.ssh(command, one("address"), one("command"), words, call.Dir, out)
	}
	switch command {
	case "deploy":
		f.images["registry.fly.io/warp-benchmark:"+one("image-label")] = true
		_, err = os.Stat(one("config"))
		_, err2 := os.Stat(filepath.Join(words[0], "go.mod"))
		return errors.Join(err, err2)
	case "machine list":
		all, err := json.MarshalIndent(f.machines, "", "  ")
		_, _ = out.Write(all)
		return err
	case "machine run":
		return f.run(values, words)
	case "machine stop":
		return f.each(words, func(m *flyMachine) error {
			_ = m.procs[0].cmd.Process.Signal(map[string]syscall.Signal{"SIGINT": syscall.SIGINT}[one("signal")])
			<-m.procs[0].done
			m.State = "stopped"
			return nil
		})
	case "machine destroy":
		return f.each(words, func(m *flyMachine) error {
			m.kill()
			m.home.taken = false
			f.machines = slices.DeleteFunc(f.machines, func(o *flyMachine) bool { return o == m })
			return nil
		})
	case "secrets import":
		for line := range strings.Lines(call.Stdin) {
			name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			if !ok {
				return fmt.Errorf("secret %q", line)
			}
			f.secrets[name] = value
		}
	case "secrets unset":
		for _, name := range words {
			delete(f.secrets, name)
		}
	case "dig":
		if words[0] != "aaaa" {
			return fmt.Errorf("%q", words)
		}
		for _, addr := range f.resolve(words[1]) {
			_, _ = out.Write([]byte(addr + "\n"))
		}
	}
	return nil
}

// each changes machines, but never a foreign one.
func (f *flyIO) each(ids []string, do func(*flyMachine) error) error {
	for _, id := range ids {
		i := slices.IndexFunc(f.machines, func(m *flyMachine) bool { return m.ID == id && m.home != nil })
		if i < 0 {
			return fmt.Errorf("machine %q is not one of benchmark.sh", id)
		}
		if err := do(f.machines[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *flyIO) run(values map[string][]string, words []string) error {
	f.runs++
	if f.runs == f.refuse {
		return flyError("there is no capacity in region " + values["region"][0])
	}
	if !f.images[words[0]] {
		return fmt.Errorf("there is no image %s", words[0])
	}
	i := slices.IndexFunc(f.homes, func(h *flyHome) bool { return !h.taken })
	if i < 0 {
		return errors.New("more machines than were asked for")
	}
	h := f.homes[i]
	_, unnamed := values["skip-dns-registration"]
	m := &flyMachine{
		ID: fmt.Sprintf("m%d", f.runs), Name: values["name"][0], State: "started", Region: values["region"][0], PrivateIP: h.addr,
		Config: flyConfig{Image: words[0], Metadata: map[string]string{}}, named: !unnamed, home: h,
	}
	for _, pair := range values["metadata"] {
		name, value, _ := strings.Cut(pair, "=")
		m.Config.Metadata[name] = value
	}
	if err := f.writeImage(h); err != nil {
		return err
	}
	if _, err := f.enter(m, nil, []string{"--wd=/data", "--setgid=65532", "--setuid=65532", "/warp"}, words[1:]...); err != nil {
		return err
	}
	h.taken = true
	f.machines = append(f.machines, m)
	return nil
}

// ssh is called with the lock, and releases it while a program runs.
func (f *flyIO) ssh(command, address, line string, words []string, dir string, out *flyWriter) error {
	i := slices.IndexFunc(f.machines, func(m *flyMachine) bool { return m.home != nil && m.PrivateIP == address })
	if i < 0 {
		return fmt.Errorf("no machine has the address %q", address)
	}
	m := f.machines[i]
	if command == "ssh sftp get" {
		b, err := os.ReadFile(filepath.Join(m.home.root, words[0]))
		if err != nil {
			return flyError(err.Error())
		}
		return os.WriteFile(filepath.Join(dir, words[1]), b, 0o644)
	}
	p, err := f.enter(m, out, []string{"--wd=/"}, strings.Fields(line)...)
	if err != nil {
		return err
	}
	f.mu.Unlock()
	<-p.done
	f.mu.Lock()
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return flyError(fmt.Sprintf("ssh shell: Process exited with status %d", code))
	}
	return nil
}

// resolve resolves names VALUE.KEY.kv._metadata.APP.internal.
func (f *flyIO) resolve(name string) []string {
	pair, ok := strings.CutSuffix(strings.TrimSuffix(name, "."), ".kv._metadata.warp-benchmark.internal")
	value, key, ok2 := strings.Cut(pair, ".")
	var all []string
	for _, m := range f.machines {
		if ok && ok2 && m.named && m.State == "started" && m.Config.Metadata[key] == value {
			all = append(all, m.PrivateIP)
		}
	}
	return all
}

// serveDNS is the private DNS of the machines.
func (f *flyIO) serveDNS() {
	f.t.Helper()
	conn, err := net.ListenPacket("udp", net.JoinHostPort(f.addr, "53"))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var msg dnsmessage.Message
			if msg.Unpack(buf[:n]) != nil || len(msg.Questions) != 1 {
				continue
			}
			f.fill(&msg)
			if b, err := msg.Pack(); err == nil {
				_, _ = conn.WriteTo(b, from)
			}
		}
	}()
}

// fill turns a question into an answer.
func (f *flyIO) fill(msg *dnsmessage.Message) {
	q := msg.Questions[0]
	f.mu.Lock()
	addrs := f.resolve(q.Name.String())
	f.mu.Unlock()
	msg.Response, msg.Authoritative, msg.RecursionAvailable, msg.Additionals = true, true, true, nil
	if len(addrs) == 0 {
		msg.RCode = dnsmessage.RCodeNameError
	}
	for _, addr := range addrs {
		if q.Type == dnsmessage.TypeAAAA {
			msg.Answers = append(msg.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
				Body:   &dnsmessage.AAAAResource{AAAA: [16]byte(net.ParseIP(addr).To16())},
			})
		}
	}
}
