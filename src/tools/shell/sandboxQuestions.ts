import { message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts } from '../../protocol/text/localized.ts';
import type { NetworkTarget, SandboxQuestions } from '../commandSandbox/commandSandbox.ts';
import { networkAccessTool } from '../core/commandSandbox.ts';
import type { AccessRequest, ToolContext } from '../core/tool.ts';
import type { PausableTimeout } from './pausableTimeout.ts';

export interface CommandQuestions extends SandboxQuestions {
  /** Resolves when no question is open. */
  answered(): Promise<void>;
  /** Call before the call ends: later on, rules and the preset decide, and nobody is asked. */
  detach(): void;
}

/** Returns the questions of a sandboxed command as approvals of its call. The time limit does not count meanwhile. */
export function sandboxQuestions(
  { requestAccess }: Pick<ToolContext, 'requestAccess'>,
  command: string,
  time: PausableTimeout | undefined,
): CommandQuestions {
  const open = new Set<Promise<boolean>>();
  let isDetached = false;
  const asked = async (request: AccessRequest, signal?: AbortSignal) => {
    if (isDetached) return requestAccess({ ...request, isUnattended: true }, signal);
    const resume = time?.pause();
    const answer = requestAccess(request, signal);
    open.add(answer);
    try {
      return await answer;
    } finally {
      open.delete(answer);
      resume?.();
    }
  };
  return {
    async answered() {
      while (open.size > 0) await Promise.allSettled(open);
    },
    detach() {
      isDetached = true;
    },
    mayConnect(target, signal) {
      const site = siteOf(target);
      const request = {
        tool: networkAccessTool,
        target: { ...target },
        what: message('Allow network access to {0}?', new URL(site).host),
        where: new URL(site).host,
        details: command,
        why: message('The command is waiting.'),
        site,
        grant: `${networkAccessTool} ${site}`,
      };
      return asked(request, signal);
    },
    async mayKeep(changes) {
      if (isDetached) return false; // no rule names these changes
      const named = changes.map(({ path }) => path.replaceAll('\n', '⏎'));
      const more = named.length - maxShown;
      const reasons = [...new Map(changes.map(({ reason }) => [reason.english, reason])).values()];
      return asked({
        tool: 'shell.run',
        target: { paths: named.slice(0, maxRecorded) },
        what: message('Keep the changes of protected files?'),
        where: [...named.slice(0, maxShown), ...(more > 0 ? [`… ${more}`] : [])].join('\n'),
        details: command,
        why: joinLocalizableTexts(reasons),
      });
    },
  };
}

const maxShown = 12;
const maxRecorded = 100;

/** Returns the origin by which rules name a network target. Other ports than those of the web count as https. */
function siteOf({ host, port }: NetworkTarget): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 80 ? `http://${name}` : port === 443 ? `https://${name}` : `https://${name}:${port}`;
}
