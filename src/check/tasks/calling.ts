import { message } from '../../protocol/text/l10n.ts';
import { textContainsNumber, trimmedEnd } from '../seen.ts';
import type { ModelCheckTask } from '../task.ts';

const sign = ['She said: "It\'s 5 o\'clock."', 'C:\\new\\tide', '{"a": [1, "two"]}'].join('\n');

/** `sh` exists on all systems except Windows, which has `cmd`. */
const [reportFile, reportCommand] =
  process.platform === 'win32' ? ['report.cmd', 'cmd /c report.cmd'] : ['report.sh', 'sh report.sh'];
const failing = 'the lock opens at low tide';
const tests = ['the quay is dry', 'boats have berths', 'the bell rings', failing, 'the lamp is lit', 'ropes hold'];
const printed = tests.map((test, at) => `echo ${test === failing ? 'not ok' : 'ok'} ${at + 1} - ${test}`);
const report = [
  ...(process.platform === 'win32' ? ['@echo off'] : []),
  ...printed,
  process.platform === 'win32' ? 'exit /b 3' : 'exit 3',
  '',
].join('\n');

export const toolCallCheckTasks = [
  {
    id: 'call',
    title: 'A plain call',
    needs: 'tool',
    files: { 'harbour.txt': 'Depth at the quay: 7341 mm\n' },
    asks: 'Read the file harbour.txt and tell me the depth at the quay.',
    replies: 2,
    judge({ calls, answer }) {
      if (!calls.some(({ ok, onlyReads }) => ok && onlyReads)) return message('It called no tool that reads the file.');
      return textContainsNumber(answer, 7341)
        ? undefined
        : message('It read the file and did not give the number that is in it, 7341.');
    },
  },
  {
    id: 'two-calls',
    title: 'Two calls at once',
    needs: 'tool',
    files: { 'left.txt': '1250\n', 'right.txt': '2017\n' },
    asks: 'Read left.txt and right.txt, with both calls in the same reply, and tell me the sum of the two numbers.',
    replies: 2,
    judge({ calls, answer }) {
      const reads = calls.filter(({ ok, onlyReads }) => ok && onlyReads);
      if (!reads.some((one) => reads.some((other) => other !== one && other.reply === one.reply)))
        return message('It did not make two calls in one reply.');
      return textContainsNumber(answer, 3267) ? undefined : message('It did not give the sum, 3267.');
    },
  },
  {
    id: 'argument',
    title: 'An argument with quotes and line breaks',
    needs: 'change',
    files: {},
    asks: `Create the file sign.txt. It has exactly these three lines:\n\n\`\`\`\n${sign}\n\`\`\``,
    replies: 2,
    judge({ folder }) {
      const written = folder.read('sign.txt');
      if (written === undefined) return message('It did not create sign.txt.');
      return trimmedEnd(written) === sign ? undefined : message('The contents of sign.txt differ from the request.');
    },
  },
  {
    id: 'search',
    title: 'A file found by search',
    needs: 'tool',
    files: Object.fromEntries(
      ['quay', 'lock', 'gate', 'mole'].flatMap((folder, at) =>
        [1, 2, 3, 4, 5].map((number) => [
          `lib/${folder}/part${number}.js`,
          `export const ${folder}${number} = () => ${at * 10 + number};\n${
            folder === 'gate' && number === 4 ? 'export function berthFor(boat) {\n  return boat.length;\n}\n' : ''
          }`,
        ]),
      ),
    ),
    asks: 'In which file is the function berthFor defined? Search for it, and give its path.',
    replies: 2,
    judge({ calls, answer }) {
      if (!calls.some(({ name, ok }) => ok && name === 'fs.search')) return message('It did not search.');
      return answer.includes('lib/gate/part4.js') ? undefined : message('It did not give the path, lib/gate/part4.js.');
    },
  },
  {
    id: 'command',
    title: 'Reads the output of a command correctly',
    needs: 'tool',
    files: { [reportFile]: report },
    asks: `Run the command \`${reportCommand}\`, exactly so. Which test failed, and with which exit code did the command end?`,
    replies: 2,
    /** Allows only the provided command; file changes are denied. */
    answers: ({ plan: { command, background } }) =>
      command?.trim() === reportCommand && !background
        ? { decision: 'allow' }
        : { decision: 'deny', words: `Only the command ${reportCommand}, exactly so.` },
    judge({ calls, answer }) {
      if (!calls.some(({ name, exitCode }) => name === 'shell.run' && exitCode === 3))
        return message('It did not run the command.');
      if (!answer.toLowerCase().includes(failing))
        return message('It did not report which test failed: “{0}”.', failing);
      return textContainsNumber(answer, 3)
        ? undefined
        : message('It did not report that the command returned exit code 3.');
    },
  },
] as const satisfies readonly ModelCheckTask[];
