import { classifyJsonOpening, maxJsonOpeningCharacters, type TextOpeningKind } from './jsonOpening.ts';
import { classifyPythonList, classifyToolCallSyntaxOpening, toolCallSyntaxFirstCharacters } from './reader.ts';
import { lookUpTool, type OfferedToolsByName } from './toolLookup.ts';

/**
 * Classifies a line.
 *
 * @param head text from the start of the line; only `maxJsonOpeningCharacters` characters are examined
 */
export function classifyLineOpening(head: string, known: OfferedToolsByName): TextOpeningKind {
  if (head !== '' && !` {[\`~${toolCallSyntaxFirstCharacters}`.includes(head[0]!)) return 'text'; // the usual case
  const opening = openingIn(head.slice(0, maxJsonOpeningCharacters).replace(/^ {1,3}(?! )/, ''), known); // four blanks: a code block
  return opening === 'wait' && head.length >= maxJsonOpeningCharacters ? 'text' : opening;
}

function openingIn(line: string, known: OfferedToolsByName): TextOpeningKind {
  if (/^ {0,3}$/.test(line)) return 'wait';
  const first = line[0]!;
  if (first === '`' || first === '~') return openingOfFence(line, known);
  const json = first === '{' || first === '[' ? classifyJsonOpening(line, known).opening : 'text';
  const form =
    json === 'text' && toolCallSyntaxFirstCharacters.includes(first)
      ? classifyToolCallSyntaxOpening(line, 0, known)
      : json;
  return form === 'text' && first === '[' ? classifyPythonList(line, known) : form;
}

function openingOfFence(line: string, known: OfferedToolsByName): TextOpeningKind {
  const fence = /^(`{3,}|~{3,})([^\n]*)(\n?)\s*/.exec(line);
  if (!fence) return /^(`{1,2}|~{1,2})$/.test(line) ? 'wait' : 'text';
  const [all, , info, end] = fence;
  if (!end) return 'wait';
  const body = line.slice(all.length);
  if (body === '') return 'wait';
  const opening = openingIn(body, known);
  const python = opening === 'text' && /code|python/i.test(info!) ? openingOfPython(body, known) : opening;
  return python === 'text' || python === 'fence' ? 'fence' : python;
}

/** Name in `name(`, `default_api.name(` (Gemini) or `print(name(`. */
export const pythonCallHeadPattern = /^(?:print\(\s*)?(?:default_api\.)?([A-Za-z_][\w.]*)\(/;

function openingOfPython(body: string, known: OfferedToolsByName): TextOpeningKind {
  const name = pythonCallHeadPattern.exec(body)?.[1];
  if (name !== undefined && lookUpTool(known, name)) return 'call';
  if (name === 'print' && /^print\(\s*[\w.]*$/.test(body)) return 'wait';
  return /^[\w.]*$/.test(body) ? 'wait' : 'text';
}
