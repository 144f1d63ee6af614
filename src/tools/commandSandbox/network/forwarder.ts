// The program inside the network namespace of a run. Arguments: a TCP port, and the paths of two Unix sockets. Forwards each connection to
// the port on the loopback addresses to the first socket, and serves requests of the outside on the second one. Writes `ready` when it
// listens, and exits when its input ends.
import { createConnection, createServer } from 'node:net';
import { joinSockets } from './joinSockets.ts';
import { createMachineServices } from './machineServices.ts';
import { serveNamespaceRequests } from './namespaceRequests.ts';

const [port, proxySocket, requestSocket] = process.argv.slice(2);
const services = createMachineServices(proxySocket!);

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

Promise.all([listen('127.0.0.1'), serveNamespaceRequests(requestSocket!, services.replace)]).then(
  async () => {
    await listen('::1').catch(() => {}); // a kernel without IPv6
    process.stdout.write('ready\n');
  },
  (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  },
);
