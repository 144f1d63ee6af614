import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { ToolError } from '../core/tool.ts';
import type { BackgroundCommands } from '../shell/background.ts';
import type { GoingCommand } from '../shell/backgroundCommand.ts';
import { type Listening, type Loopback, listeningAt, loopback } from '../shell/listeningPorts.ts';
import { processLabel } from '../shell/processes.ts';
import type { Reach } from './fetch.ts';

/** A page of this machine that a command of the run serves. */
export interface OwnPage {
  reach: Reach;
  /** Who serves it, in words. */
  who: LocalizedMessage;
  /** What a yes covers: this port, of this command, as long as it is at work. Absent where it cannot be seen whose the port is. */
  grant?: string;
}

/** Finds the page's command among those that a run has in the background. */
export type OwnPages = (runId: string, url: URL) => Promise<OwnPage | undefined>;

/**
 * A port of this machine is the command's own when nobody but its processes takes connections there. That is looked at when it is
 * asked about, before each connection, and once it stands, before anything is sent: a port can change hands at any moment.
 * Where a system does not say whose a port is, the command's output has to name it.
 * @param platform as of `process.platform`
 */
export function ownPages(background: BackgroundCommands, platform: string = process.platform): OwnPages {
  const canBeSeen = platform === 'linux';

  async function placesOf(command: GoingCommand, url: URL): Promise<Listening[]> {
    const port = portOf(url);
    const hosts = hostsOf(url);
    const seen = canBeSeen
      ? await listeningAt(command, port)
      : names(command.text(), port)
        ? loopback.map((address) => ({ address, processes: [] }))
        : [];
    return command.isWorking ? seen.filter(({ address }) => hosts.includes(address)) : [];
  }

  const reachOf = (command: GoingCommand, start: URL): Reach => ({
    check(url) {
      const isSame = hostsOf(url).length > 0 && portOf(url) === portOf(start);
      if (!isSame) throw elsewhere(start, url);
    },
    async addresses(url) {
      const places = await placesOf(command, url);
      if (places.length === 0) throw notItsOwn(url);
      return places.map(({ address }) => address);
    },
    async connected(url, address) {
      const places = await placesOf(command, url);
      if (!places.some((place) => place.address === address)) throw notItsOwn(url);
    },
  });

  return async (runId, url) => {
    if (hostsOf(url).length === 0) return undefined;
    for (const { id, line } of background.atWork.filter((one) => one.runId === runId)) {
      const command = background.find(runId, id);
      const [place] = command ? await placesOf(command, url) : [];
      if (!command || !place) continue;
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
      const processes = place.processes.map(processLabel).join(', ');
      const who = message('the background command {1} ({0}) serves it', processes, name);
      return { reach, who, grant: `web.fetch port ${portOf(url)} of the command ${id}` };
    }
    return undefined;
  };
}

/** Where a host of this machine's own can be; empty for all others, whatever they lead to. */
function hostsOf({ hostname }: URL): readonly Loopback[] {
  if (hostname === 'localhost') return loopback;
  return loopback.filter((address) => hostname === address || hostname === `[${address}]`);
}

const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80));

const names = (output: string, port: number): boolean =>
  [...output.matchAll(/\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::(\d{1,5}))?(?![\w.:-])/g)].some(
    ([address, at]) => Number(at ?? (address.startsWith('https') ? 443 : 80)) === port,
  );

/** Its words stay within their quotes. */
function nameOf(line: string): string {
  const words = line.replace(/\s+/g, ' ').replace(/[“”]/g, '"');
  return `“${words.length > 200 ? `${words.slice(0, 200)}…` : words}”`;
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
