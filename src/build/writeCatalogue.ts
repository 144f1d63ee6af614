// npm run catalogue: writes src/llm/models/catalogue.json from the locked package of prices. To update the package first, run
// npm install --save-dev --save-exact @pydantic/genai-prices@latest.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { catalogueFile, catalogueOf, cataloguePackage } from './catalogue.ts';
import { lockedFolder } from './lockedFolder.ts';
import { lock } from './shippedPackages.ts';
import { temporaryFolder } from './targets.ts';

const { version } = lock().packages[`node_modules/${cataloguePackage}`]!;
const shell = process.platform === 'win32'; // npm is a script on Windows
const times = JSON.parse(
  execFileSync('npm', ['view', cataloguePackage, 'time', '--json'], { encoding: 'utf8', shell, maxBuffer: 1e8 }),
);
const work = temporaryFolder();
try {
  const text = await catalogueOf(lockedFolder(cataloguePackage, work), times[version].slice(0, 10));
  writeFileSync(catalogueFile, text);
  console.log(`${cataloguePackage} ${version}: ${text.length} bytes.`);
} finally {
  rmSync(work, { recursive: true });
}
