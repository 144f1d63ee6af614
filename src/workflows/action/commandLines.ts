import * as z from 'zod';
import { type LocalizedMessage, message } from '../../protocol/text/l10n.ts';
import { joinLocalizableTexts, type LocalizableText, messageOf, toErrorInfo } from '../../protocol/text/localized.ts';
import { toCommandLine } from '../../tools/shell/quote.ts';
import { tokenizeTemplate } from '../template/bounds.ts';
import { WorkflowActionError } from './action.ts';

const word = z.union([z.string(), z.number(), z.boolean()]);

/** Schema of a program and its arguments; a nested list is several arguments. */
export const commandArgumentsSchema = z.array(z.union([word, z.array(word)])).min(1);

/** Converts a list in `shell.run` parameters to an equivalent command line. Throws `WorkflowActionError`. */
export function toCommandLineParameters(params: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(params.command)) return params;
  const { data, error } = commandArgumentsSchema.safeParse(params.command);
  const at = error?.issues[0]?.path[0];
  if (!data) throw refused(message('word {0} is neither a text nor a number', Number(at ?? 0) + 1));
  try {
    return { ...params, command: toCommandLine(data.flat().map(String)) };
  } catch (error) {
    throw refused(messageOf(error));
  }
}

const refused = (why: LocalizableText) =>
  new WorkflowActionError({
    code: 'TOOL_ARGS_INVALID',
    ...toErrorInfo(joinLocalizableTexts(['shell.run: command: ', why, '.'], '')),
  });

/** Returns the problem of a command's `quote` filter: inside existing quotes, the filter would end the quotes and expose the value. */
export function quoteFilterProblem(command: unknown): LocalizedMessage | undefined {
  if (Array.isArray(command))
    return command.some((word) => typeof word === 'string' && /\|\s*quote\b/.test(word))
      ? message('A list of words needs no `quote`: each word is passed on as it is.')
      : undefined;
  if (typeof command !== 'string' || !/\|\s*quote\b/.test(command)) return undefined;
  let open = '';
  let last = '';
  for (const { type, value } of tokenizeTemplate(command)) {
    if (type === 'Text') open = openAfter(value, open);
    else if (last === '|' && value === 'quote' && open !== '')
      return message('`quote` adds quotes. Remove the {0} around it.', open);
    last = value;
  }
  return undefined;
}

function openAfter(text: string, before: string): string {
  let open = before;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]!;
    if (sign === '\\' && open !== "'") at++;
    else if (open === '' && (sign === "'" || sign === '"')) open = sign;
    else if (sign === open) open = '';
  }
  return open;
}
