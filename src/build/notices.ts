import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { PackageFacts } from './shippedPackages.ts';
import { projectRoot } from './targets.ts';

const rule = '─'.repeat(100);

export function thirdPartyNotices(packages: PackageFacts[], llamaCpp: string | undefined): string {
  const parts = packages.map((one) => `${one.name} ${one.version}\nLicence: ${one.licence}\n\n${textOf(one)}`);
  const head = 'Towpath contains what others have made. Their names, versions and licences, each with its own text:';
  return `${[head, ...parts, ...(llamaCpp ? [llamaCpp] : [])].map((part) => part.trim()).join(`\n\n${rule}\n`)}\n`;
}

function textOf({ name, licence, author, licenceFiles }: PackageFacts): string {
  if (licenceFiles.length > 0)
    return licenceFiles.map((file) => readFileSync(path.resolve(projectRoot, file), 'utf8').trim()).join('\n\n');
  const text = standard[licence];
  if (!text) throw new Error(`${name} brings no text of its licence (${licence}), and there is none here.`);
  return text(author ?? `the authors of ${name}`);
}

/** Standard texts for packages that name a licence but contain no text. */
const standard: Record<string, (holder: string) => string> = {
  MIT: (holder) => `Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`,
};
