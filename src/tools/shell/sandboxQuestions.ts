import { message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts } from '../../protocol/text/localized.ts';
import type { SandboxQuestions } from '../commandSandbox/commandSandbox.ts';
import { siteOfTarget } from '../commandSandbox/networkSite.ts';
import { networkAccessTool } from '../core/commandSandbox.ts';
import type { AccessRequest, ToolContext } from '../core/tool.ts';
import type { PausableTimeout } from './pausableTimeout.ts';

export interface CommandQuestions extends SandboxQuestions {
  /** Resolves when no question is open. */
  answered(): Promise<void>;
  /** Call before the call ends: later on, rules and the preset decide, and nobody is asked. */
  detach(): void;
}

/**
 * Returns the questions of a sandboxed command as approvals of its call. The time limit does not count meanwhile.
 * @param registries returns the sites of package registries
 */
export function sandboxQuestions(
  { requestAccess }: Pick<ToolContext, 'requestAccess'>,
  command: string,
  time: PausableTimeout | undefined,
  registries: () => Promise<readonly string[]>,
): CommandQuestions {
  const open = new Set<Promise<boolean>>();
  let isDetached = false;
  const asked = async (prepared: Promise<AccessRequest> | AccessRequest, signal?: AbortSignal) => {
    const resume = time?.pause();
    const ask = async () => {
      const request = await prepared;
      return requestAccess(isDetached ? { ...request, isUnattended: true } : request, signal);
    };
    const answer = ask();
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
      const prepare = async () => {
        const site = siteOfTarget(target);
        const known = await registries().catch((): string[] => []);
        return {
          tool: networkAccessTool,
          target: { ...target },
          what: message('Allow network access to {0}?', new URL(site).host),
          where: new URL(site).host,
          details: command,
          why: message('The command is waiting.'),
          site,
          ...(known.includes(site) && { registries: known }),
          grant: `${networkAccessTool} ${site}`,
          offersOutside: true as const,
        };
      };
      return asked(prepare(), signal);
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
