import { planItemsOfRun, planToolName } from '../../protocol/run/plan.ts';
import { message } from '../../protocol/text/l10n.ts';
import type { CheckTaskFolderAccess } from '../folderWorkspace.ts';
import { trimmedEnd } from '../seen.ts';
import type { ModelCheckTask } from '../task.ts';

const tide = (low: string) =>
  [
    'export function high(day) {',
    '\treturn day % 2 === 0 ? 0.5 : 4.1;',
    '}',
    '',
    'export function low(day) {',
    `\treturn ${low};`,
    '}',
    '',
    'export function mean(day) {',
    '\treturn (high(day) + low(day)) / 2; // 0.5 at least',
    '}',
    '',
  ].join('\n');

const server = (workers: string) =>
  ['[web]', 'port = 8080', workers, '', '[admin]', 'port = 9300', 'workers = 1', ''].join('\n');
/** Content of the file when the first change is approved. */
const meanwhile = server('workers = 5 # raised by Mo');

const letters = ['a', 'b', 'c'];
const hasItsLetter = (folder: CheckTaskFolderAccess, letter: string) =>
  trimmedEnd(folder.read(`${letter}.txt`)) === letter;

export const editingCheckTasks = [
  {
    id: 'edit',
    title: 'An exact edit',
    needs: 'change',
    files: { 'src/tide.js': tide('0.5') },
    asks: 'In src/tide.js, the function low has to return 0.3 in place of 0.5. Change that and nothing else.',
    replies: 3,
    judge({ folder }) {
      const text = folder.read('src/tide.js');
      if (text === tide('0.5')) return message('It did not change the file.');
      return text === tide('0.3') ? undefined : message('It changed something other than requested.');
    },
  },
  {
    id: 'edit-again',
    title: 'An edit after a rejected edit',
    needs: 'change',
    files: { 'server.conf': server('workers = 4') },
    asks: 'In server.conf, give the section web 6 workers in place of 4.',
    replies: 5,
    /** Changes the line before the approval, so that the model's knowledge is outdated. */
    answers({ plan: { change } }, folder) {
      if (change && folder.read('server.conf') === server('workers = 4')) folder.write('server.conf', meanwhile);
      return undefined;
    },
    judge({ folder, questions }) {
      const text = folder.read('server.conf') ?? '';
      if (questions.length === 0) return message('It did not attempt to change the file.');
      if (text === meanwhile)
        return message('Its edit was rejected because the line had changed, and it did not fix the edit.');
      const [, after] = /^workers = (6)\b.*$/m.exec(text) ?? [];
      const rest = (of: string) => of.replace(/^workers = [56].*$/m, '');
      return after && rest(text) === rest(meanwhile)
        ? undefined
        : message('It changed something other than the workers of web.');
    },
  },
  {
    id: 'stop',
    title: 'Stops when the task is done',
    needs: 'change',
    files: {},
    asks: 'Create the file done.txt with the one word done in it. That is all there is to do.',
    replies: 2,
    judge({ folder, calls }) {
      if (trimmedEnd(folder.read('done.txt')) !== 'done')
        return message('It did not create done.txt with the word done in it.');
      const changes = calls.filter(({ onlyReads }) => !onlyReads).length;
      const more = Math.max(changes - 1, calls.length - 3);
      return more <= 0 && folder.paths().length === 1 ? undefined : message('It continued when the task was done.');
    },
  },
  {
    id: 'plan',
    title: 'Follows a plan',
    needs: 'change',
    files: {},
    asks:
      `Create the files a.txt, b.txt and c.txt, each with its own letter in it. First show your to-do list of three steps with the tool ${planToolName}, ` +
      'and show it again as the steps get done, until all of them are.',
    replies: 6,
    judge({ folder, calls, run }) {
      const updates = calls.filter(({ name, ok }) => ok && name === planToolName);
      const [first] = updates;
      if (!first) return message('It showed no plan.');
      const change = calls.find(({ onlyReads }) => !onlyReads);
      if (change && calls.indexOf(change) < calls.indexOf(first))
        return message('It started before it had shown a plan.');
      const missing = letters.find((letter) => !hasItsLetter(folder, letter));
      if (missing) return message('It did not create {0}.txt with its letter in it.', missing);
      const plan = planItemsOfRun(run);
      if (plan.length < 3) return message('Its plan has fewer than three steps.');
      if (updates.length < 2 || plan.some(({ status }) => status !== 'done'))
        return message('It did not follow its plan to the end.');
      return undefined;
    },
  },
] as const satisfies readonly ModelCheckTask[];
