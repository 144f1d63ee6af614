import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { raceWithAbort } from '../../../protocol/values/abort.ts';
import type { SandboxNetwork } from '../commandSandbox.ts';
import { connectToPort, sendServicePorts } from './namespaceRequests.ts';
import { proxyEnvironment } from './proxyEnvironment.ts';

interface NetworkNamespaceOptions {
  /** Path of Bubblewrap. */
  program: string;
  /** Path of the built forwarder, `sandboxForwarder.cjs`. */
  forwarder: string;
  /** Folder of the socket of the proxy, `proxySocketName`, in which the forwarder creates one of its own. */
  socketFolder: string;
  signal?: AbortSignal;
}

/** Network namespace with only a loopback interface, on which a forwarder leads to a proxy outside. */
export interface NetworkNamespace extends SandboxNetwork {
  /** Process to join with `nsenter --user --net --preserve-credentials`; valid until `ended`. */
  pid: number;
  /** Variables for a command in the namespace. */
  environment: Record<string, string>;
  /** Lets connections to these ports reach the proxy, as ones to `localhost`; the ports are those of services of this machine. */
  setServices(ports: readonly number[]): Promise<void>;
  /** Ends the forwarder. Processes that have joined keep the namespace, without a way out. */
  end(): void;
  ended: Promise<void>;
}

export const proxySocketName = 'proxy.sock';
const port = 3128;

/** Starts a network namespace and its forwarder. Rejects with the reason if the system does not allow it, or after an abort. */
export async function startNetworkNamespace({
  program,
  forwarder,
  socketFolder,
  signal,
}: NetworkNamespaceOptions): Promise<NetworkNamespace> {
  signal?.throwIfAborted();
  const requestSocket = path.join(socketFolder, `${randomUUID().slice(0, 8)}.sock`);
  const command = [process.execPath, forwarder, String(port), path.join(socketFolder, proxySocketName), requestSocket];
  const child = spawn(program, [...namespaceArguments, '--bind', socketFolder, socketFolder, '--', ...command], {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    env: forwarderEnvironment(),
  }) as ChildProcessByStdio<Writable, Readable, Readable>;
  child.stdin.on('error', () => {}); // it has ended
  let isReady = false;
  const end = () => {
    child.stdin.end(); // the forwarder exits
    // Kills the forwarder, too (`--die-with-parent`), but not the child of a Bubblewrap that is still starting.
    if (isReady) child.kill('SIGKILL');
  };
  let startError: Error | undefined;
  child.once('error', (error) => {
    startError = error;
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const info = text(child.stdio[3] as Readable).catch(() => '');
  const errors = text(child.stderr).catch(() => '');
  const ready = new Promise<boolean>((resolve) => {
    child.stdout.once('data', () => resolve(true));
    void ended.then(() => resolve(false));
  });
  try {
    isReady = await raceWithAbort(ready, signal);
    const pid = /"child-pid"\s*:\s*(\d+)/.exec(isReady ? await info : '')?.[1];
    if (pid)
      return {
        pid: Number(pid),
        environment: proxyEnvironment(port, process.env),
        connect: (target) => connectToPort(requestSocket, target),
        setServices: (ports) => sendServicePorts(requestSocket, ports),
        end,
        ended,
      };
    const reason = startError?.message ?? ((await errors).trim().slice(0, 500) || `exit code ${child.exitCode}`);
    throw new Error(`The network namespace could not be started: ${reason}`);
  } catch (error) {
    end();
    throw error;
  }
}

// User id 0 without `--dev`: Bubblewrap then creates a single user namespace, which owns the network namespace, so that a process that joins it
// can create mounts and further namespaces. The forwarder itself can only listen on ports below 1024 in addition, for services.
const namespaceArguments = [
  ...['--unshare-user', '--uid', '0', '--gid', '0', '--unshare-net', '--cap-drop', 'ALL'],
  ...['--cap-add', 'CAP_NET_BIND_SERVICE'],
  ...['--die-with-parent', '--new-session', '--ro-bind', '/', '/', '--info-fd', '3'],
];

// Nothing of the editor's environment but what its program may need to start: variables can contain secrets and change what Node runs.
function forwarderEnvironment(): NodeJS.ProcessEnv {
  const { LD_LIBRARY_PATH } = process.env;
  return {
    ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }),
    ...(process.versions.electron && { ELECTRON_RUN_AS_NODE: '1' }),
  };
}
