import { isDeepStrictEqual } from 'node:util';
import { message } from '../../protocol/text/l10n.ts';
import { textContainsNumber } from '../seen.ts';
import type { ModelCheckTask } from '../task.ts';

const passages = Array.from({ length: 150 }, (_, at) => {
  const minute = String(at % 60).padStart(2, '0');
  return `${6 + Math.floor(at / 60)}:${minute} gate ${(at % 4) + 1}: boat ${1000 + ((at * 37) % 900)}, wind ${(at * 13) % 31}`;
});

const ida = { name: 'Ida', metres: 18, berths: [3, 4] };

const germanWords =
  /(?<!\p{L})(gibt|es|sind|ist|der|die|das|dem|den|im|hat|stehen|laut|Hafen|Liegeplätze|Datei)(?!\p{L})/giu;

export const answerCheckTasks = [
  {
    id: 'far-back',
    title: 'A value from far back',
    needs: 'text',
    files: {},
    asks: [
      'This is the record of the harbour:',
      '',
      'Before the first boat: the Ida lies at berth 5317.',
      ...passages,
      '',
      'At which berth does the Ida lie? No tool is needed for this.',
    ].join('\n'),
    replies: 1,
    judge: ({ answer }) =>
      textContainsNumber(answer, 5317)
        ? undefined
        : message('It did not find the value, 5317, some 3,000 tokens before the question.'),
  },
  {
    id: 'json',
    title: 'An answer in JSON',
    needs: 'text',
    files: {},
    asks: 'The Ida is 18 metres long and lies at the berths 3 and 4. Answer with JSON alone, in this form: {"name": text, "metres": number, "berths": [numbers]}',
    replies: 1,
    judge({ answer }) {
      const value = jsonIn(answer);
      if (value === undefined) return message('Its answer contains more than JSON.');
      return isDeepStrictEqual(value, ida) ? undefined : message('Its JSON does not match the request.');
    },
  },
  {
    id: 'language',
    title: 'Another language',
    needs: 'text',
    files: { 'hafen.txt': 'Liegeplätze: 42\n' },
    asks: 'Lies die Datei hafen.txt. Wie viele Liegeplätze gibt es? Antworte in einem ganzen Satz.',
    replies: 2,
    judge({ answer }) {
      if (!textContainsNumber(answer, 42)) return message('It did not give the number, 42.');
      const foundWords = new Set([...answer.matchAll(germanWords)].map(([word]) => word.toLowerCase()));
      return foundWords.size >= 2 ? undefined : message('It was asked in German and did not answer in German.');
    },
  },
] as const satisfies readonly ModelCheckTask[];

/** Accepts a code block if the answer contains nothing else. */
function jsonIn(answer: string): unknown {
  const [, fenced] = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/.exec(answer) ?? [];
  try {
    return JSON.parse(fenced ?? answer);
  } catch {
    return undefined;
  }
}
