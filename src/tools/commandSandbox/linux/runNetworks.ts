import { mkdtemp, rm } from 'node:fs/promises';
import * as paths from 'node:path';
import { isPrivateNetworkAddress } from '../../network/addresses.ts';
import { readListeningSockets, readSocketCounts } from '../../network/listeningSockets.ts';
import type { NetworkTarget } from '../commandSandbox.ts';
import { type NetworkNamespace, proxySocketName, startNetworkNamespace } from '../network/namespace.ts';
import { startSandboxProxy } from '../network/proxy.ts';
import { isExpectedAddress } from '../network/proxyConnection.ts';
import { upstreamProxy } from '../network/upstreamProxy.ts';
import { removeLeftovers } from './leftovers.ts';

/** Answers the connections of the command at work. */
type ConnectionAnswer = (target: NetworkTarget, signal: AbortSignal) => Promise<boolean>;

interface RunNetwork extends Pick<NetworkNamespace, 'pid' | 'environment' | 'connect'> {
  /** Resolves when the network knows the services of this machine. Never rejects. */
  services: Promise<void>;
  /** Call when the command has ended. */
  release(): void;
}

interface Network {
  namespace: NetworkNamespace;
  services?: KnownServices;
  commands: ConnectionAnswer[];
  idle?: NodeJS.Timeout;
  close(): Promise<void>;
}

/** Services of this machine that a namespace knows. */
interface KnownServices {
  ports: string;
  /** Numbers of sockets when the services were read, and the time until which these tell if services have changed. */
  counts: string;
  until: number;
}

/** Milliseconds after its last command until a network ends. */
const idleLimit = 300_000;

/** Not that of `TMPDIR`: commands see their own folder in place of this one, and must reach no socket of another run. */
const socketParent = '/tmp';
const socketPrefix = 'towpath-proxy-';

/** Creates the networks of runs: one namespace each, so that the commands of a run reach each other and nothing else. */
export function createRunNetworks(options: { bwrap: string; forwarder: string; log?(text: string): void }) {
  const networks = new Map<string, Promise<Network>>();
  let swept: Promise<void> | undefined;

  return {
    async join(runId: string, answer: ConnectionAnswer): Promise<RunNetwork> {
      let starting = networks.get(runId);
      if (!starting) {
        starting = start(runId);
        networks.set(runId, starting);
        starting.catch(() => networks.delete(runId));
      }
      const network = await starting;
      clearTimeout(network.idle);
      network.commands.push(answer);
      const services = offerMachineServices(network).catch((error: Error) =>
        options.log?.(`Services of this machine cannot be reached from the sandbox: ${error.message}`),
      );
      const { pid, environment, connect } = network.namespace;
      const release = () => {
        const at = network.commands.indexOf(answer);
        if (at >= 0) network.commands.splice(at, 1);
        if (network.commands.length > 0) return;
        clearTimeout(network.idle);
        network.idle = setTimeout(() => void network.close(), idleLimit).unref();
      };
      return { pid, environment, connect, services, release };
    },
    async close(): Promise<void> {
      await Promise.all(
        [...networks.values()].map((one) => one.then((network) => network.close()).catch(() => undefined)),
      );
    },
  };

  async function start(runId: string): Promise<Network> {
    const socketFolder = await mkdtemp(paths.join(socketParent, `${socketPrefix}${process.pid}-`)); // the path of a socket must be short
    swept ??= removeLeftovers(socketParent, socketPrefix);
    await swept;
    const commands: ConnectionAnswer[] = [];
    const isAllowed: ConnectionAnswer = async (target, signal) => (await commands.at(-1)?.(target, signal)) === true;
    const proxy = await startSandboxProxy({
      socketPath: paths.join(socketFolder, proxySocketName),
      access: async (target, signal) => ((await isAllowed(target, signal)) ? 'allow' : 'deny'),
      // A registry of a company has a private address, which a name of anybody can have: the address needs an answer of its own.
      isAllowedAddress: async (address, target, signal) =>
        isExpectedAddress(address, target) ||
        (isPrivateNetworkAddress(address) && (await isAllowed({ host: address, port: target.port }, signal))),
      upstream: (target, isTunnel) => upstreamProxy(process.env, target, isTunnel),
      log: options.log,
    });
    const namespace = await startNetworkNamespace({
      program: options.bwrap,
      forwarder: options.forwarder,
      socketFolder,
    }).catch(async (error) => {
      await Promise.all([proxy.close(), rm(socketFolder, { recursive: true, force: true })]);
      throw error;
    });
    const close = async () => {
      if (networks.get(runId) === own) networks.delete(runId);
      namespace.end();
      await Promise.all([proxy.close(), rm(socketFolder, { recursive: true, force: true })]);
    };
    const own = networks.get(runId);
    void namespace.ended.then(close); // the next command starts another
    return { namespace, commands, close };
  }
}

/** Milliseconds after which the services of this machine are read in any case. */
const servicesAge = 20_000;

async function offerMachineServices(network: Network): Promise<void> {
  const counts = await readSocketCounts();
  const known = network.services;
  if (known && known.counts === counts && known.until > Date.now()) return;
  const sockets = await readListeningSockets('self');
  const all = sockets.flatMap(({ port, reachedAt }) => (reachedAt.length > 0 ? [port] : []));
  const services = [...new Set(all)].sort((one, other) => one - other);
  const ports = services.join();
  if (known?.ports !== ports) await network.namespace.setServices(services);
  network.services = { ports, counts, until: Date.now() + servicesAge };
}
