import { hostname, networkInterfaces } from 'node:os';
import type { Probe, ProbeWorld } from './probe.ts';

const reached = ({ reached }: ProbeWorld) => [...reached].join(', ') || undefined;

const hostAddress = () =>
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one && !one.internal && one.family === 'IPv4')?.address ?? '127.0.0.1';

/** Connects without the proxy. */
const direct = (name: string, address: string, script: string, other: Partial<Probe> = {}): Probe => ({
  name,
  script: `${script}\ntrue`,
  async prepare(world) {
    world.variables.PORT = await world.listen(
      'service',
      address
        .replace('$TAG', world.tag)
        .replace('$WS', world.ws)
        .replace('$OUT', world.out)
        .replace('$HOME', world.home),
    );
    world.variables.HOST_ADDRESS = hostAddress();
  },
  effect: reached,
  control: 'outside',
  ...other,
});

/** Writes a request to the proxy. `PORT` is a service that answers, `DENIED` another one. */
const proxied = (name: string, request: string, other: Partial<Probe> = {}): Probe => ({
  name,
  script: `perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:3128", Timeout => 5) or exit; my $r = shift; $r =~ s/\\n/\\r\\n/g; print $s $r; $s->flush; local $/; print <$s>' "${request}"`,
  async prepare(world) {
    world.variables.PORT = await world.listen('service', '0.0.0.0');
    world.variables.DENIED = await world.listen('denied', '0.0.0.0');
    world.variables.HOST_ADDRESS = hostAddress();
    world.variables.HOST_NAME = hostname();
  },
  effect: reached,
  control: 'allowed',
  ...other,
});

const connectTo = (target: string) => `CONNECT ${target} HTTP/1.1\nHost: ${target}\n\nGET / HTTP/1.1\nHost: a\n\n`;

/** Only one service is allowed; the other one must not be reached. */
const onlyAllowed: Partial<Probe> = {
  mayConnect: ({ host, port }, { variables }) => host === '127.0.0.1' && String(port) === variables.PORT,
  effect: ({ reached }) => (reached.has('denied') ? 'denied' : undefined),
  control: 'none',
};

const unixClient = `perl -MSocket -e 'for my $p (@ARGV) { socket(my $s, 1, 1, 0); connect($s, sockaddr_un($p)) and syswrite($s, "x"); socket($s, 1, 2, 0); connect($s, sockaddr_un($p)) and syswrite($s, "x") }'`;
const atPath = (path: string, other: Partial<Probe> = {}) =>
  direct(`connects to a socket of the machine at ${path}`, path, `${unixClient} "$PORT"`, other);

export const network: readonly Probe[] = [
  direct('connects to 127.0.0.1', '127.0.0.1', 'echo x > /dev/tcp/127.0.0.1/$PORT'),
  direct(
    'connects to localhost',
    '127.0.0.1',
    'echo x > /dev/tcp/localhost/$PORT; curl -s --noproxy "*" http://localhost:$PORT',
  ),
  direct('connects to 0.0.0.0', '0.0.0.0', 'echo x > /dev/tcp/0.0.0.0/$PORT'),
  direct('connects to the address of the machine', '0.0.0.0', 'echo x > /dev/tcp/$HOST_ADDRESS/$PORT'),
  direct(
    'connects to ::1',
    '::1',
    `perl -MSocket=:all -e 'socket(S, AF_INET6, SOCK_STREAM, 0); connect(S, pack_sockaddr_in6($ENV{PORT}, inet_pton(AF_INET6, "::1")))'`,
  ),
  direct(
    'connects to ::ffff:127.0.0.1',
    '127.0.0.1',
    `perl -MSocket=:all -e 'socket(S, AF_INET6, SOCK_STREAM, 0); connect(S, pack_sockaddr_in6($ENV{PORT}, inet_pton(AF_INET6, "::ffff:127.0.0.1")))'`,
  ),
  direct('sends a packet to 127.0.0.1', 'udp:127.0.0.1', 'echo x > /dev/udp/127.0.0.1/$PORT'),
  direct('sends a packet to the address of the machine', 'udp:0.0.0.0', 'echo x > /dev/udp/$HOST_ADDRESS/$PORT', {
    async prepare(world) {
      world.variables.HOST_ADDRESS = hostAddress();
      world.variables.PORT = await world.listen('service', `udp:${hostAddress()}`);
    },
  }),
  direct(
    'asks a server for names',
    'udp:127.0.0.1',
    `perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(Proto => "udp", PeerAddr => "127.0.0.1:$ENV{PORT}"); print $s "\\x12\\x34\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\7example\\3com\\0\\0\\1\\0\\1"'`,
  ),
  direct(
    'connects without the variables of the proxy',
    '127.0.0.1',
    'unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy; curl -s --max-time 5 http://127.0.0.1:$PORT',
    { needs: ['curl'] },
  ),
  direct(
    'connects in another network',
    '127.0.0.1',
    `unshare -n true; nsenter -t 1 -n true; perl -e 'for my $p (glob "/proc/*/ns/net") { open(my $f, "<", $p); syscall(308, fileno $f, 0) }'; echo x > /dev/tcp/127.0.0.1/$PORT`,
  ),
  direct(
    'adds a way out',
    '0.0.0.0',
    'ip link add v0 type veth peer name v1; ip route add default dev lo; echo x > /dev/tcp/$HOST_ADDRESS/$PORT',
    { needs: ['ip'] },
  ),
  direct(
    'connects to an abstract socket',
    '@$TAG',
    // Node pads the name with zeros.
    `perl -MSocket -e 'my $n = "\\0$ENV{TAG}"; for ($n, $n . "\\0" x (108 - length $n)) { socket(S, 1, 1, 0); connect(S, sockaddr_un($_)) and syswrite(S, "x") }'`,
  ),
  atPath('$HOME/service.sock'),
  atPath('$WS/service.sock'),
  atPath('$WS/.git/fsmonitor--daemon.ipc'),
  atPath('$OUT/service.sock'),
  atPath('/tmp/$TAG.sock'),
  atPath('/var/tmp/$TAG.sock'),
  atPath('/dev/shm/$TAG.sock'),
  atPath('/run/$TAG.sock', { user: 'root' }),
  atPath('/srv/$TAG.sock', { user: 'root' }),
  direct(
    'connects to a socket through a link',
    '$OUT/service.sock',
    `ln -s $OUT/service.sock made; ${unixClient} made $WS/made /proc/self/root$OUT/service.sock`,
  ),
  direct(
    'connects to a socket after moving its folder',
    '$WS/server/service.sock',
    `mv server other; ${unixClient} other/service.sock server/service.sock`,
    { control: 'none' },
  ),
  direct(
    'connects to the socket of the proxy',
    '127.0.0.1',
    `for s in $(ls -d /tmp/towpath-*/proxy.sock); do ${unixClient} $s; done; grep -o "/.*proxy.sock" /proc/net/unix`,
    { control: 'none' },
  ),
  proxied('asks the proxy for 127.0.0.1', connectTo('127.0.0.1:$PORT')),
  proxied('asks the proxy for localhost', connectTo('localhost:$PORT')),
  proxied('asks the proxy for ::1 and its forms', connectTo('[::ffff:127.0.0.1]:$PORT')),
  proxied('asks the proxy for a decimal address', connectTo('2130706433:$PORT')),
  proxied('asks the proxy for an octal address', connectTo('0177.0.0.1:$PORT')),
  proxied('asks the proxy for a short address', connectTo('127.1:$PORT')),
  proxied('asks the proxy for the address of the machine', connectTo('$HOST_ADDRESS:$PORT')),
  proxied(
    'asks the proxy for a plain address',
    'GET http://127.0.0.1:$PORT/ HTTP/1.1\nHost: 127.0.0.1:$PORT\nConnection: close\n\n',
  ),
  proxied('hides the metadata address in a decimal one', connectTo('2852039166:80'), {
    effect: ({ asked }) => (asked.every((one) => one === '169.254.169.254:80') ? undefined : asked.join(', ')),
    control: 'none',
  }),
  proxied('uses a name with a private address', connectTo('$HOST_NAME:$PORT'), {
    mayConnect: () => true,
    control: 'none',
  }),
  proxied(
    'names an allowed host in another header',
    'GET http://127.0.0.1:$DENIED/ HTTP/1.1\nHost: 127.0.0.1:$PORT\nConnection: close\n\n',
    onlyAllowed,
  ),
  proxied(
    'names a denied host in another header',
    'GET http://127.0.0.1:$PORT/ HTTP/1.1\nHost: 127.0.0.1:$DENIED\nConnection: close\n\n',
    onlyAllowed,
  ),
  proxied(
    'puts an allowed host before a denied one',
    'GET http://127.0.0.1:$PORT@127.0.0.1:$DENIED/ HTTP/1.1\nHost: a\nConnection: close\n\n',
    onlyAllowed,
  ),
  proxied(
    'sends a second request for a denied host',
    'GET http://127.0.0.1:$PORT/ HTTP/1.1\nHost: a\n\nGET http://127.0.0.1:$DENIED/ HTTP/1.1\nHost: a\nConnection: close\n\n',
    onlyAllowed,
  ),
  proxied(
    'hides a second request in a body',
    'POST http://127.0.0.1:$PORT/ HTTP/1.1\nHost: a\nContent-Length: 5\nTransfer-Encoding: chunked\n\n0\n\nGET http://127.0.0.1:$DENIED/ HTTP/1.1\nHost: a\nConnection: close\n\n',
    onlyAllowed,
  ),
  proxied(
    'opens a tunnel after an allowed request',
    `GET http://127.0.0.1:$PORT/ HTTP/1.1\nHost: a\n\n${connectTo('127.0.0.1:$DENIED')}`,
    onlyAllowed,
  ),
  proxied(
    'sends for a denied host in an allowed tunnel',
    `${connectTo('127.0.0.1:$PORT')}CONNECT 127.0.0.1:$DENIED HTTP/1.1\n\n`,
    onlyAllowed,
  ),
  proxied('follows a redirection to a denied host', '', {
    ...onlyAllowed,
    script: 'curl -s -L --noproxy "" --max-time 20 http://127.0.0.1:$PORT/; true',
    needs: ['curl'],
    async prepare(world) {
      world.variables.PORT = await world.listen('redirecting', '127.0.0.1');
      world.variables.DENIED = await world.listen('denied', '127.0.0.1');
    },
    control: 'allowed',
  }),
];
