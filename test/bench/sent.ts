import { first, mostSent, sentSizes } from '../support/sizes.ts';

// What every request costs before anything is said: characters of the system prompt and of all tools, as each wire writes them.

console.log(`${first.tools!.length} tools, of at most ${mostSent} characters with the prompt`);
for (const { wire, prompt, tools } of sentSizes()) {
  const sum = prompt + tools;
  console.log(`  ${wire.padEnd(24)} prompt ${prompt}   tools ${tools}   together ${sum}`);
  if (sum <= mostSent) continue;
  console.log(`  over the budget of ${mostSent}`);
  process.exitCode = 1;
}
for (const { name, description, parameters } of first.tools!)
  console.log(`    ${name.padEnd(18)} ${JSON.stringify({ name, description, parameters }).length}`);
