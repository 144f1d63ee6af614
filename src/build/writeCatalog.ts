// npm run catalog: writes src/llm/models/catalog.json from the locked package of prices. To update the package first, run
// npm install --save-dev --save-exact @pydantic/genai-prices@latest.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createCatalogText, modelCatalogFile, priceCatalogPackage } from './catalog.ts';
import { lockedPackageFolder } from './lockedFolder.ts';
import { readNpmLockFile } from './shippedPackages.ts';
import { createTemporaryBuildFolder } from './targets.ts';

const { version } = readNpmLockFile().packages[`node_modules/${priceCatalogPackage}`]!;
const shell = process.platform === 'win32'; // npm is a script on Windows
const times = JSON.parse(
  execFileSync('npm', ['view', priceCatalogPackage, 'time', '--json'], { encoding: 'utf8', shell, maxBuffer: 1e8 }),
);
const work = createTemporaryBuildFolder();
try {
  const text = await createCatalogText(lockedPackageFolder(priceCatalogPackage, work), times[version].slice(0, 10));
  writeFileSync(modelCatalogFile, text);
  console.log(`${priceCatalogPackage} ${version}: ${text.length} bytes.`);
} finally {
  rmSync(work, { recursive: true });
}
