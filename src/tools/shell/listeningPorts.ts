import { readdir, readFile, readlink } from 'node:fs/promises';
import type { LoopbackAddress, SandboxNetwork } from '../commandSandbox/commandSandbox.ts';
import { type CommandProcess, findCommandProcesses } from './processes.ts';

export const loopbackAddresses: readonly LoopbackAddress[] = ['127.0.0.1', '::1'];

/** Command whose sockets are looked for; without a network of its own, it uses that of this process. */
interface ListeningCommand {
  pid: number;
  marker: string;
  network?: Pick<SandboxNetwork, 'pid'>;
}

export interface ListeningAddress {
  address: LoopbackAddress;
  processes: CommandProcess[];
}

/**
 * Returns the loopback addresses where only the command listens on a port (Linux). Any foreign socket that could receive the connection, by
 * a more specific address or by port sharing, excludes the address.
 */
export async function findListeningAddresses(command: ListeningCommand, port: number): Promise<ListeningAddress[]> {
  const [sockets, own] = await Promise.all([listeners(command), socketsOf(command)]);
  return addressesAt(port, sockets, own);
}

/** Returns the ports at which only the command listens on a loopback address (Linux), in ascending order. */
export async function findListeningPorts(command: ListeningCommand): Promise<number[]> {
  const [sockets, own] = await Promise.all([listeners(command), socketsOf(command)]);
  const ports = [...new Set(sockets.map(({ port }) => port))];
  return ports.filter((port) => addressesAt(port, sockets, own).length > 0).sort((one, other) => one - other);
}

type OwnSockets = ReadonlyMap<string, CommandProcess[]>;

function addressesAt(port: number, sockets: readonly Listener[], own: OwnSockets): ListeningAddress[] {
  return loopbackAddresses.flatMap((address) => {
    const possible = sockets.filter((socket) => socket.port === port && reaches(socket.local, address));
    const processes = possible.flatMap(({ inode }) => own.get(inode) ?? []);
    const isOwn = possible.length > 0 && possible.every(({ inode }) => own.has(inode));
    return isOwn ? [{ address, processes: [...new Set(processes)] }] : [];
  });
}

interface Listener {
  /** Kernel form: hexadecimal words of the address in host byte order. */
  local: string;
  port: number;
  inode: string;
}

// Reads `/proc/net/tcp` and `tcp6` of a network namespace: state `0A` is listening.
async function listeners({ network }: Pick<ListeningCommand, 'network'>): Promise<Listener[]> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/${network?.pid ?? 'self'}/net/${name}`, 'utf8').catch(() => '')),
  );
  return tables.flatMap((table) =>
    table.split('\n').flatMap((line) => {
      const [, address = '', , state, , , , , , inode] = line.trim().split(/\s+/);
      const [local, port] = address.split(':');
      return state === '0A' && port && inode ? [{ local: local!, port: Number.parseInt(port, 16), inode }] : [];
    }),
  );
}

const mapped = '0000000000000000FFFF0000';
const [everywhere4, everywhere6] = ['0'.repeat(8), '0'.repeat(32)];
// Local addresses whose sockets can receive a connection to a loopback address. A dual-stack socket counts for both.
const reaching: Record<LoopbackAddress, ReadonlySet<string>> = {
  '127.0.0.1': new Set(['0100007F', everywhere4, everywhere6, `${mapped}0100007F`, `${mapped}${everywhere4}`]),
  '::1': new Set(['00000000000000000000000001000000', everywhere6]),
};
const reaches = (local: string, address: LoopbackAddress) => reaching[address].has(local);

async function socketsOf({ pid, marker }: ListeningCommand): Promise<OwnSockets> {
  const found = new Map<string, CommandProcess[]>();
  for (const process of await findCommandProcesses(pid, marker)) {
    const folder = `/proc/${process.pid}/fd`;
    for (const name of await readdir(folder).catch(() => [])) {
      const leads = await readlink(`${folder}/${name}`).catch(() => '');
      const inode = /^socket:\[(\d+)\]$/.exec(leads)?.[1];
      if (inode) found.set(inode, [...(found.get(inode) ?? []), process]);
    }
  }
  return found;
}
