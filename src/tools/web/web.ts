import { escapeInvisibleProse } from '../../protocol/text/escapeInvisible.ts';
import { message } from '../../protocol/text/l10n.ts';
import { storeLongOutput } from '../core/storedOutput.ts';
import { createSideEffectTool, type Tool, type ToolCallPlan, ToolError } from '../core/tool.ts';
import { webFetchDefinition } from '../definitions/webTools.ts';
import { checkFetchUrl } from '../network/addresses.ts';
import { anySiteFetchPolicy, fetchWebPage, type WebPageLimits } from './fetch.ts';
import type { CommandServedWebPage, CommandServedWebPageLookup } from './localPages.ts';
import { type pageText, pageText as usualText } from './text.ts';

export interface WebOptions extends Partial<WebPageLimits> {
  allowPrivate?(): boolean;
  ownPages?: CommandServedWebPageLookup;
  /** Converts a page to text (`web/text.ts`), possibly in a worker. Throws an error with a sentence. */
  pageText?: typeof pageText;
}

/**
 * `web.fetch`: a page as text, HTML without markup. Data: `{ url, contentType, bytes, title?, text, redirects?, cut?, outputId? }`; `url`
 * is the final address. Throws `E_SANDBOX_VIOLATION` (`details.reason`: `URL_REFUSED`, `PRIVATE_ADDRESS`), `E_READ_LIMIT` for large or
 * binary content, `TOOL_TIMEOUT`, else `TOOL_EXEC_FAILED`.
 */
export function webTool({
  allowPrivate = () => false,
  ownPages,
  pageText = usualText,
  ...limits
}: WebOptions = {}): Tool {
  const tool = createSideEffectTool(webFetchDefinition, 'execute', async ({ url: written }, { runId }) => {
    const isOpen = allowPrivate();
    const own = isOpen ? undefined : await ownPages?.(runId, checkFetchUrl(written, true));
    const url = checkFetchUrl(written, isOpen || own !== undefined);
    return {
      what: message('Fetch a page of {0}', url.host),
      where: `GET ${url.href}`,
      ...(own ? ownPagePlan(own) : { why, grant: `web.fetch ${url.origin}` }),
      site: url.origin,
      async run(context) {
        const reach = own?.reach ?? anySiteFetchPolicy(allowPrivate());
        const page = await fetchWebPage(url, { reach, signal: context.signal, ...limits });
        const { contentType, bytes } = page;
        const size = bytes.byteLength; // before the transfer to another thread
        const { title, text } = await pageText({ contentType, bytes }).catch((error: Error) => {
          throw new ToolError('E_READ_LIMIT', `The page is no text that can be read. ${error.message}`);
        });
        return {
          url: page.url.href,
          contentType: page.contentType,
          bytes: size,
          ...(title && { title: escapeInvisibleProse(title) }),
          ...(page.redirects.length > 0 && { redirects: page.redirects }),
          ...(await storeLongOutput(escapeInvisibleProse(text), 0, 'text', context)),
        };
      },
    };
  });
  return { ...tool, leavesFiles: true };
}

const why = message('The address is sent to that server, and its response is sent to the model.');

// Returns the approval of a local page: only an answer allows a page, for one port of one command; rules and presets do not.
function ownPagePlan({ who, grant }: CommandServedWebPage): Pick<ToolCallPlan, 'why' | 'grant' | 'guarded' | 'once'> {
  const reason = message('It is a page of this machine: {0}. Its response is sent to the model.', who);
  if (grant === undefined) return { why: reason };
  return {
    why: message('{0} Pages of this port need no further approval while the command runs.', reason),
    grant,
    guarded: true,
    once: true,
  };
}
