import type { Asked } from '../../src/protocol/ask.ts';
import { endWords } from '../../src/protocol/run.ts';
import type { HostMessage } from '../../src/protocol/view.ts';
import { visibleProse } from '../../src/protocol/visible.ts';

/** What a screen reader is told: finished replies, questions and errors; never a reply while it is still growing. */
export function announce(log: HTMLElement, message: HostMessage): void {
  if (message.type !== 'events') return;
  for (const event of message.events) {
    if (event.type === 'message' && event.message.role === 'assistant' && event.branch === undefined)
      say(log, event.message.content);
    if (event.type === 'question') say(log, `Waiting for your answer: ${event.question.what}`);
    if (event.type === 'ask')
      say(log, `Towpath asks. ${event.questions.map(inWords).join(' ')} Or write your own answer.`);
    if (event.type === 'node' && event.status === 'end') say(log, `Node ${event.node} is done`);
    if (event.type === 'command-end') say(log, `A command in the background ${endWords(event)}`);
    if (event.type === 'phase' && event.error) say(log, event.error.message);
  }
}

const inWords = ({ question, answers }: Asked): string =>
  `${question} ${answers.map(({ label, why }, place) => `${place + 1}: ${label}${why ? `, ${why}` : ''}.`).join(' ')}`;

const longest = 1000;
const kept = 5;

function say(log: HTMLElement, text: string): void {
  if (text.trim() === '') return;
  const line = document.createElement('p');
  line.textContent = visibleProse(text.length > longest ? `${text.slice(0, longest)}…` : text);
  log.append(line);
  while (log.childElementCount > kept) log.firstElementChild?.remove();
}
