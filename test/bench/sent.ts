import { first, maxSent, sentSizes } from '../support/sizes.ts';
import { line } from './measure.ts';

// What every request costs before anything is said: characters of the system prompt and of all tools, as each wire writes them.

console.log(`${first.tools!.length} tools, of at most ${maxSent} characters with the prompt`);
for (const { wire, prompt, tools } of sentSizes()) {
  const sum = prompt + tools;
  line(wire, { prompt: `${prompt}`, tools: `${tools}`, together: `${sum}` }, sum, maxSent);
}
for (const { name, description, parameters } of first.tools!)
  console.log(`    ${name.padEnd(18)} ${JSON.stringify({ name, description, parameters }).length}`);
