import * as z from 'zod';
import { readTool, type ToolContext } from '../tool.ts';
import { askToRead } from './ask.ts';
import { globTest } from './glob.ts';
import { searchPlaces, workspacePath } from './places.ts';
import { ripgrep } from './ripgrep.ts';

interface FindArguments {
  pattern: string;
  path?: string;
}

const maximumFiles = 500;

/** `fs.find`: files by name. Data: `{ files: string[], cut? }`, sorted. */
export const findTool = readTool(
  {
    name: 'fs.find',
    description: 'Find files by glob, e.g. src/**/*.ts or *.md. Ignored files are left out.',
    arguments: { pattern: z.string().min(1), path: z.string().optional().describe('Folder to look in') },
  },
  find,
  (args, context) => askToRead(args.path, 'search', context, (context) => find(args, context)),
);

async function find({ pattern, path }: FindArguments, { workspace, signal }: ToolContext) {
  const matches = globTest(pattern);
  const files: string[] = [];
  let cut = false;
  for (const place of await searchPlaces(workspace, path)) {
    const onLine = (line: string) => {
      const name = workspacePath(place, line);
      if (matches(name) || (place.prefix && matches(name.slice(place.prefix.length)))) files.push(name);
      return files.length <= maximumFiles;
    };
    const ended = await ripgrep(workspace, place.folder, ['--files', '--', place.target], onLine, signal);
    cut ||= ended.cut;
  }
  files.sort();
  return {
    files: files.slice(0, maximumFiles),
    ...(cut && { cut: `More than ${maximumFiles} files or too slow; narrow the pattern or give a path.` }),
  };
}
