// The program inside the network namespace of a run. Arguments: a TCP port, and the paths of two Unix sockets. Forwards each connection to
// the port on the loopback addresses to the first socket, and each connection to the second socket to the port that it names. Writes
// `ready` when it listens, and exits when its input ends.
import { createConnection, createServer } from 'node:net';
import { joinSockets } from './joinSockets.ts';
import { servePortConnections } from './portConnections.ts';

const [port, proxySocket, portsSocket] = process.argv.slice(2);

function listen(host: string): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (client) =>
    joinSockets(client, createConnection({ path: proxySocket!, allowHalfOpen: true })),
  );
  return new Promise((resolve, reject) => {
    server.on('error', reject); // later errors concern single connections
    server.listen({ host, port: Number(port) }, resolve);
  });
}

process.stdin
  .on('end', () => process.exit())
  .on('error', () => process.exit())
  .resume();

Promise.all([listen('127.0.0.1'), servePortConnections(portsSocket!)]).then(
  async () => {
    await listen('::1').catch(() => {}); // a kernel without IPv6
    process.stdout.write('ready\n');
  },
  (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  },
);
