import type { Attachment } from '../../protocol/content/messages.ts';
import { escapeInvisibleInLine } from '../../protocol/text/escapeInvisible.ts';
import { message } from '../../protocol/text/l10n.ts';
import { UserFacingError } from '../../protocol/text/localized.ts';
import { truncateWithEllipsis } from '../../protocol/text/shorten.ts';
import { ResultWithImages } from '../core/imageFiles.ts';
import { mcpCallResultData } from './callResult.ts';
import type { McpServer } from './server.ts';

const [maxPrompts, maxTextLength] = [100, 200];

export interface ServerPrompt {
  server: McpServer;
  name: string;
  description: string;
  inputs: { name: string; asks: string; needed: boolean }[];
}

/** Returns the prompts of running servers; a server that does not answer in time counts as empty. */
export async function serverPrompts(servers: readonly McpServer[], signal: AbortSignal): Promise<ServerPrompt[]> {
  const all = servers.map(async (server) => {
    const listed = server.hasPrompts ? await server.prompts({ signal }).catch(() => []) : [];
    return listed.slice(0, maxPrompts).map(({ name, description = '', arguments: inputs = [] }) => ({
      server,
      name,
      description: shortText(description),
      inputs: inputs.map((input) => ({
        name: input.name,
        asks: shortText(input.description || input.name),
        needed: input.required === true,
      })),
    }));
  });
  return (await Promise.all(all)).flat();
}

/** Returns the filled prompt: text and images. Throws `ToolError`, or `UserFacingError` if empty. */
export async function fetchServerPrompt(
  { server, name }: ServerPrompt,
  values: Record<string, string>,
  signal: AbortSignal,
): Promise<{ text: string; pictures: Attachment[] }> {
  const { messages } = await server.prompt(name, values, { signal });
  const result = mcpCallResultData({ content: messages.map(({ content }) => content) });
  const { text } = (result instanceof ResultWithImages ? result.data : result) as { text: string };
  if (text.trim() === '') throw new UserFacingError(message('The prompt {0} is empty.', JSON.stringify(name)));
  return { text, pictures: result instanceof ResultWithImages ? [...result.images] : [] };
}

const shortText = (text: string) => truncateWithEllipsis(escapeInvisibleInLine(text.trim()), maxTextLength);
