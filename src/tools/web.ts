import * as z from 'zod';
import { keptText } from './keptText.ts';
import { askingTool, type Tool, ToolError } from './tool.ts';
import { checkUrl } from './web/addresses.ts';
import { fetchPage, type PageLimits } from './web/fetch.ts';
import { type pageText, pageText as usualText } from './web/text.ts';

export interface WebOptions extends Partial<PageLimits> {
  /** Pages of this machine and of private networks may be fetched, too. */
  allowPrivate?(): boolean;
  /** A page as text (`web/text.ts`), maybe made elsewhere. Throws a sentence where that cannot be done. */
  pageText?: typeof pageText;
}

/**
 * `web.fetch`: a page as text, HTML without its markup. Data: `{ url, contentType, title?, text, redirects?, cut?, outputId? }`, `url` being
 * the address it came from in the end. Fails with `E_SANDBOX_VIOLATION` (`details.reason`: `URL_REFUSED`, `PRIVATE_ADDRESS`),
 * `E_READ_LIMIT` for what is too large or no text, `TOOL_TIMEOUT`, else `TOOL_EXEC_FAILED`.
 */
export function webTool({ allowPrivate = () => false, pageText = usualText, ...limits }: WebOptions = {}): Tool {
  return askingTool(
    { name: 'web.fetch', description: 'Get a web page as text.', arguments: { url: z.string().max(2000) } },
    'execute',
    async ({ url: written }) => {
      const url = checkUrl(written, allowPrivate());
      return {
        what: `Get a page of ${url.host}`,
        where: `GET ${url.href}`,
        why: 'The address goes to that server, and what it answers goes to the model.',
        grant: `web.fetch ${url.origin}`,
        site: url.origin,
        async run(context) {
          const page = await fetchPage(url, { allowPrivate: allowPrivate(), signal: context.signal, ...limits });
          const { contentType, bytes } = page;
          const { title, text } = await pageText({ contentType, bytes }).catch((error: Error) => {
            throw new ToolError('E_READ_LIMIT', `The page is no text that can be read. ${error.message}`);
          });
          return {
            url: page.url.href,
            contentType: page.contentType,
            ...(title && { title }),
            ...(page.redirects.length > 0 && { redirects: page.redirects }),
            ...(await keptText(text, 0, 'text', context)),
          };
        },
      };
    },
  );
}
