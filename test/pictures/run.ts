/**
 * `npm run pictures [-- words …]`: draws the panel in every state, theme and width, and in each of them asks axe what is wrong. Words are
 * names of themes (`dark`, `german`) and widths (`230`), or parts of the names of states. For looking, in test/out/pictures: a picture each, and a sheet of each state and width with all themes beside each other.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setLanguage } from '../../src/protocol/text/l10n.ts';
import { violationsIn } from '../webview/axe.ts';
import { endBrowser, germanWords, openBrowser, root, type TestPage } from '../webview/browser.ts';
import { ended, type State, showState, sideways, states } from '../webview/states.ts';
import { type ThemeName, themes } from '../webview/themes.ts';
import { insightsIn } from './insights.ts';

/** At 200 % a page of this size fills a small window. */
const allSizes = [
  { name: '230', width: 230, height: 720, zoom: 1 },
  { name: '300', width: 300, height: 720, zoom: 1 },
  { name: '420', width: 420, height: 720, zoom: 1 },
  { name: '900', width: 900, height: 720, zoom: 1 },
  { name: 'zoomed', width: 360, height: 360, zoom: 2 },
];
type Size = (typeof allSizes)[number];
type Look = { name: string; theme: ThemeName; forced: boolean; german?: true };
const allLooks: Look[] = [
  ...(Object.keys(themes) as ThemeName[]).map((theme) => ({ name: theme, theme, forced: false })),
  { name: 'forced-colours', theme: 'dark', forced: true },
  { name: 'german', theme: 'dark', forced: false, german: true },
];

const folder = path.join(root, 'test/out/pictures');
/** Those that are named, or all when none of them is. */
const given = process.argv.slice(2);
const named = <One extends { name: string }>(all: readonly One[]): readonly One[] => {
  const some = all.filter(({ name }) => given.includes(name));
  return some.length > 0 ? some : all;
};
const [looks, sizes] = [named(allLooks), named(allSizes)];
const isOther = (word: string) => ![...allLooks, ...allSizes].some(({ name }) => name === word);
const words = given.filter(isOther);
const isWanted = ({ name }: { name: string }) => words.length === 0 || words.some((word) => name.includes(word));
const wanted = [...states, ...ended].filter(isWanted);
const insights = { name: 'insights' };
const alone = isWanted(insights) ? [insights] : [];

const browser = await openBrowser();
if (given.length === 0) rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const wrong: string[] = [];

for (const look of looks) for (const size of sizes) await drawAll(look, size);
for (const one of wrong) console.log(one);
console.log(
  `${wanted.length + alone.length} states in ${looks.length * sizes.length} looks, ${wrong.length} violations: ${folder}`,
);
for (const size of sizes) for (const one of [...wanted, ...alone]) await sheet(one, size);
await browser.close();
await endBrowser();
process.exitCode = wrong.length > 0 ? 1 : 0;

async function drawAll(look: Look, size: Size): Promise<void> {
  const test = await browser.open('webview/main.ts', {
    ...size,
    theme: look.theme,
    ...(look.german && { german: germanWords() }),
  });
  await test.page.emulateMedia({ reducedMotion: 'reduce', ...(look.forced && { forcedColors: 'active' }) });
  for (const state of wanted) {
    await test.renew();
    await draw(test, state, look, size);
  }
  if (alone.length > 0) await drawInsights(test, look, size);
  await test.close();
  console.log(`${look.name} ${size.name}`);
}

/** A page of its own, in a tab of the editor. */
async function drawInsights(test: TestPage, look: Look, size: Size): Promise<void> {
  await test.page.goto('about:blank'); // where the panel's policy does not hold
  if (look.german) setLanguage('de', germanWords());
  await test.page.setContent(insightsIn(look.theme));
  setLanguage('en');
  const name = `${insights.name}: ${look.name} ${size.name}`;
  wrong.push(...(await violationsIn(test)).map((one) => `${name}: ${one}`));
  await test.page.screenshot({ path: pictureOf(insights, look.name, size) });
}

async function draw(test: TestPage, state: State, look: Look, size: Size): Promise<void> {
  const name = `${state.name}: ${look.name} ${size.name}`;
  try {
    await showState(test, state);
    wrong.push(...(await violationsIn(test)).map((one) => `${name}: ${one}`));
    wrong.push(...(await sideways(test)).map((one) => `${name}: sticks out sideways: ${one}`));
  } catch (error) {
    wrong.push(`${name}: ${error instanceof Error ? error.message.split('\n', 1)[0] : error}`);
  }
  await test.page.screenshot({ path: pictureOf(state, look.name, size) });
}

/** One state at one width, in all themes beside each other. In a page of its own, for one that has drawn hundreds so large draws no more. */
async function sheet(state: { name: string }, size: Size): Promise<void> {
  const { page, close } = await browser.open('webview/main.ts');
  const pictures = looks.map(({ name }) => readFileSync(pictureOf(state, name, size)).toString('base64'));
  const images = pictures.map((png) => `<img width="${size.width}" src="data:image/png;base64,${png}">`).join('');
  await page.goto('about:blank');
  await page.setViewportSize({ width: (size.width + 4) * looks.length, height: size.height });
  await page.setContent(`<style>body { margin: 0; display: flex; gap: 4px; background: gray }</style>${images}`);
  await page.screenshot({ path: pictureOf(state, 'all', size) });
  await close();
}

function pictureOf(state: { name: string }, look: string, size: Size): string {
  return path.join(folder, `${state.name.replace(/[^\w-]+/g, '-')}-${size.name}-${look}.png`);
}
