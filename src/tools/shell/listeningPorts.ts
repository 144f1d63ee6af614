import { readdir, readlink } from 'node:fs/promises';
import type { SandboxNetwork } from '../commandSandbox/commandSandbox.ts';
import {
  type ListeningSocket,
  type LoopbackAddress,
  loopbackAddresses,
  readListeningSockets,
} from '../network/listeningSockets.ts';
import { type CommandProcess, findCommandProcesses } from './processes.ts';

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
  const [sockets, own] = await Promise.all([readListeningSockets(command.network?.pid ?? 'self'), socketsOf(command)]);
  return addressesAt(port, sockets, own);
}

/** Returns the ports at which only the command listens on a loopback address (Linux), in ascending order. */
export async function findListeningPorts(command: ListeningCommand): Promise<number[]> {
  const [sockets, own] = await Promise.all([readListeningSockets(command.network?.pid ?? 'self'), socketsOf(command)]);
  const ports = [...new Set(sockets.map(({ port }) => port))];
  return ports.filter((port) => addressesAt(port, sockets, own).length > 0).sort((one, other) => one - other);
}

type OwnSockets = ReadonlyMap<string, CommandProcess[]>;

function addressesAt(port: number, sockets: readonly ListeningSocket[], own: OwnSockets): ListeningAddress[] {
  return loopbackAddresses.flatMap((address) => {
    const possible = sockets.filter((socket) => socket.port === port && socket.reachedAt.includes(address));
    const processes = possible.flatMap(({ inode }) => own.get(inode) ?? []);
    const isOwn = possible.length > 0 && possible.every(({ inode }) => own.has(inode));
    return isOwn ? [{ address, processes: [...new Set(processes)] }] : [];
  });
}

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
