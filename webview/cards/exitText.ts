/** Programs whose code 1 is an answer, and what it says. Everything above it is a failure of theirs. */
const answers = {
  grep: 'no match',
  egrep: 'no match',
  fgrep: 'no match',
  rg: 'no match',
  pgrep: 'no match',
  diff: 'they differ',
  cmp: 'they differ',
  test: 'no',
  '[': 'no',
  which: 'not found',
} as const;
type Answer = (typeof answers)[keyof typeof answers];

/**
 * What a command's code means where it is known to mean something: that of the last program of a line that has no more than
 * pipes in it. A line with anything else may have ended elsewhere.
 */
export function exitAnswer(line: string, exitCode: number): Answer | undefined {
  if (exitCode !== 1 || /[;&\n`(){}<>]|\|\||"|'/.test(withoutQuoted(line))) return undefined;
  const words = withoutQuoted(line).split('|').at(-1)!.trim().split(/\s+/);
  const program = words.find((word) => !/^\w+=/.test(word)) ?? '';
  if (program === 'git') return gitAnswer(words);
  return Object.hasOwn(answers, program) ? answers[program as keyof typeof answers] : undefined;
}

function gitAnswer([, command, ...rest]: readonly string[]): Answer | undefined {
  if (command === 'grep') return 'no match';
  const says = rest.includes('--quiet') || rest.includes('--exit-code');
  return command === 'diff' && says ? 'they differ' : undefined;
}

/** Quoted text is one word, whatever is in it. */
const withoutQuoted = (line: string): string =>
  line.replace(/'[^']*'|"(?:[^"\\$`]|\\.)*"/g, 'quoted').replace(/\\./g, 'x');
