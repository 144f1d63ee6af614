import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** Chromium without a window to draw: the same pages for two thirds of the work. */
const windowless = ['chromium-headless-shell', 'chrome-headless-shell'];
const windowed = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'];

const elsewhere = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

/**
 * The path of a Chromium, installed with apt-get where it is absent and that is possible (Debian, as root).
 * Throws a sentence that says what to do where it is not. `CHROMIUM_PATH` names one outright.
 */
export function ensureChromium(): string {
  const found = findChromium();
  if (found) return found;
  if (!canInstall()) throw new Error(missing);
  console.log('Chromium is not here: installing it with apt-get …');
  const updated = aptGet('update');
  const install = (name: string) => aptGet('install', '-y', '--no-install-recommends', name);
  const tried = [process.env.HEADED ? '' : install('chromium-headless-shell')];
  if (!findChromium()) tried.push(install('chromium')); // not every Debian has the other
  const now = findChromium();
  if (!now) throw new Error(`${missing}\napt-get could not do it:\n${updated}${tried.join('')}`);
  return now;
}

/** One that can show its window, where `HEADED` wants that. */
function findChromium(): string | undefined {
  const named = process.env.CHROMIUM_PATH;
  if (named && !existsSync(named)) throw new Error(`CHROMIUM_PATH is ${named}, and the file does not exist.`);
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const inPath = (names: string[]) => folders.flatMap((folder) => names.map((name) => path.join(folder, name)));
  const places = [...(process.env.HEADED ? [] : inPath(windowless)), ...inPath(windowed), ...elsewhere];
  return named ?? places.find((place) => existsSync(place));
}

const missing =
  'The tests and the demo drive VS Code in Chromium, and there is none here. ' +
  'Install it (Debian: apt-get install chromium), or set CHROMIUM_PATH to a Chromium, Chrome or Edge.';

function canInstall(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
}

function aptGet(...args: string[]): string {
  const run = spawnSync('apt-get', ['-q', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return run.status === 0 ? '' : `apt-get ${args.join(' ')}: ${run.error?.message ?? run.stderr}`;
}
