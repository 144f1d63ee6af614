import { message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts } from '../../protocol/text/localized.ts';
import type { SandboxQuestions } from '../commandSandbox/commandSandbox.ts';
import { siteOfTarget } from '../commandSandbox/networkSite.ts';
import { networkAccessTool } from '../core/commandSandbox.ts';
import type { ToolContext } from '../core/tool.ts';
import type { PausableTimeout } from './pausableTimeout.ts';

/**
 * Returns the questions of a sandboxed command as approvals of its call. The time limit does not count meanwhile.
 * @param registries returns the sites of package registries
 */
export function sandboxQuestions(
  { requestAccess }: Pick<ToolContext, 'requestAccess'>,
  command: string,
  time: PausableTimeout | undefined,
  registries: () => Promise<readonly string[]>,
): SandboxQuestions {
  const asked = async (work: () => Promise<boolean>) => {
    const resume = time?.pause();
    try {
      return await work();
    } finally {
      resume?.();
    }
  };
  return {
    mayConnect: (target, signal) =>
      asked(async () => {
        const site = siteOfTarget(target);
        const known = await registries().catch((): string[] => []);
        const request = {
          tool: networkAccessTool,
          target: { ...target },
          what: message('Allow network access to {0}?', new URL(site).host),
          where: new URL(site).host,
          details: command,
          why: message('The command is waiting.'),
          site,
          ...(known.includes(site) && { registries: known }),
          grant: `${networkAccessTool} ${site}`,
        };
        return requestAccess(request, signal);
      }),
    mayKeep: (changes) =>
      asked(() => {
        const named = changes.map(({ path }) => path.replaceAll('\n', '⏎'));
        const more = named.length - maxShown;
        const reasons = [...new Map(changes.map(({ reason }) => [reason.english, reason])).values()];
        return requestAccess({
          tool: 'shell.run',
          target: { paths: named.slice(0, maxRecorded) },
          what: message('Keep the changes of protected files?'),
          where: [...named.slice(0, maxShown), ...(more > 0 ? [`… ${more}`] : [])].join('\n'),
          details: command,
          why: joinLocalizableTexts(reasons),
        });
      }),
  };
}

const maxShown = 12;
const maxRecorded = 100;
