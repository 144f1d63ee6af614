import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { shortenText } from '../../protocol/text/shorten.ts';
import { ToolError } from '../core/tool.ts';
import { type LoopbackAddress, loopbackAddresses } from '../network/listeningSockets.ts';
import type { BackgroundCommands } from '../shell/background.ts';
import type { RunningCommand } from '../shell/backgroundCommand.ts';
import { findListeningAddresses, type ListeningAddress } from '../shell/listeningPorts.ts';
import { processLabel } from '../shell/processes.ts';
import type { FetchTargetPolicy } from './fetch.ts';

export interface CommandServedWebPage {
  reach: FetchTargetPolicy;
  who: LocalizedMessage;
  /** Scope of an approval: this port of this command while it runs. Absent if the owner of the port is unknown. */
  grant?: string;
}

export type CommandServedWebPageLookup = (runId: string, url: URL) => Promise<CommandServedWebPage | undefined>;

/**
 * Finds pages of own commands. A port belongs to a command if no other process listens there. The owner is checked at planning, before each
 * connection, and after the connection before anything is sent, because a port can change the owner at any time. On systems without this
 * information, the command's output must name the port.
 * @param platform value of `process.platform`
 */
export function createCommandServedPageLookup(
  background: BackgroundCommands,
  platform: string = process.platform,
): CommandServedWebPageLookup {
  const canBeSeen = platform === 'linux';

  async function addressesOf(command: RunningCommand, url: URL): Promise<ListeningAddress[]> {
    const port = portOf(url);
    const hosts = hostsOf(url);
    const seen = canBeSeen
      ? await findListeningAddresses(command, port)
      : names(command.text(), port)
        ? loopbackAddresses.map((address) => ({ address, processes: [] }))
        : [];
    return command.isWorking ? seen.filter(({ address }) => hosts.includes(address)) : [];
  }

  const reachOf = (command: RunningCommand, start: URL): FetchTargetPolicy => ({
    check(url) {
      const isSame = hostsOf(url).length > 0 && portOf(url) === portOf(start);
      if (!isSame) throw elsewhere(start, url);
    },
    async addresses(url) {
      const addresses = await addressesOf(command, url);
      if (addresses.length === 0) throw notItsOwn(url);
      return addresses.map(({ address }) => address);
    },
    async connected(url, address) {
      const addresses = await addressesOf(command, url);
      if (!addresses.some((listening) => listening.address === address)) throw notItsOwn(url);
    },
    ...(command.network && { connect: command.network.connect }),
  });

  return async (runId, url) => {
    if (hostsOf(url).length === 0) return undefined;
    for (const { id, line } of background.atWork.filter((one) => one.runId === runId)) {
      const command = background.find(runId, id);
      const [listening] = command ? await addressesOf(command, url) : [];
      if (!command || !listening) continue;
      const reach = reachOf(command, url);
      const name = nameOf(line);
      if (!canBeSeen)
        return {
          reach,
          who: message(
            'the output of the background command {0} names it; this system does not show which process serves it',
            name,
          ),
        };
      const processes = listening.processes.map(processLabel).join(', ');
      const who = message('the background command {1} ({0}) serves it', processes, name);
      return { reach, who, grant: `web.fetch port ${portOf(url)} of the command ${id}` };
    }
    return undefined;
  };
}

// Returns the loopback addresses of a host name; empty for other hosts, even if the host resolves to this machine.
function hostsOf({ hostname }: URL): readonly LoopbackAddress[] {
  if (hostname === 'localhost') return loopbackAddresses;
  return loopbackAddresses.filter((address) => hostname === address || hostname === `[${address}]`);
}

const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80));

const names = (output: string, port: number): boolean =>
  [...output.matchAll(/\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::(\d{1,5}))?(?![\w.:-])/g)].some(
    ([address, at]) => Number(at ?? (address.startsWith('https') ? 443 : 80)) === port,
  );

function nameOf(line: string): string {
  const text = line.replace(/\s+/g, ' ').replace(/[“”]/g, '"');
  return `“${shortenText(text, 200)}”`;
}

const notItsOwn = (url: URL) =>
  new ToolError('E_SANDBOX_VIOLATION', `${url.host} is not served by a command of this run any more.`, {
    reason: 'PRIVATE_ADDRESS',
  });

const elsewhere = (from: URL, url: URL) =>
  new ToolError(
    'TOOL_EXEC_FAILED',
    `${from.host} redirects to another place, which nobody was asked about: ${url.href}. Fetch that address.`,
    { redirect: url.href },
  );
