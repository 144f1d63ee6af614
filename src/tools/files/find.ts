import * as z from 'zod';
import { nearest } from '../nearest.ts';
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
/** So many of the other files are looked through for what was meant. */
const maximumOthers = 5000;

/** `fs.find`: files by name. */
export const findTool = readTool(
  {
    name: 'fs.find',
    description: 'Find files by glob, e.g. src/**/*.ts, not ignored ones.',
    arguments: {
      pattern: z.string().min(1).meta({ help: 'A glob: `src/**/*.ts`.' }),
      path: z.string().optional().meta({ help: 'A folder to look in.' }),
    },
    gives: {
      files: z.array(z.string()).describe('Their paths, sorted.'),
      note: z.string().optional().describe('When there is none: what may have been meant.'),
    },
  },
  find,
  (args, context) => askToRead(args.path, 'search', context, (context) => find(args, context)),
);

async function find({ pattern, path }: FindArguments, { workspace, signal }: ToolContext) {
  const matches = globTest(pattern);
  const files: string[] = [];
  const others: string[] = [];
  let cut = false;
  for (const place of await searchPlaces(workspace, path)) {
    const onLine = (line: string) => {
      const name = workspacePath(place, line);
      if (matches(name) || (place.prefix && matches(name.slice(place.prefix.length)))) files.push(name);
      else if (others.length < maximumOthers) others.push(name);
      return files.length <= maximumFiles;
    };
    const ended = await ripgrep(workspace, place.folder, ['--files', '--', place.target], onLine, signal);
    cut ||= ended.cut;
  }
  files.sort();
  return {
    files: files.slice(0, maximumFiles),
    ...(files.length === 0 && { note: nothing(pattern, others) }),
    ...(cut && { cut: `More than ${maximumFiles} files or too slow; narrow the pattern or give a path.` }),
  };
}

/** With the names that a glob's last one is a slip of. */
function nothing(pattern: string, others: readonly string[]): string {
  const name = pattern.split('/').at(-1)!;
  const names = new Map(others.map((path) => [path.split('/').at(-1)!, path]));
  const slips = /[*?[{]/.test(name) ? [] : nearest(name, names.keys());
  const near = slips.map((slip) => JSON.stringify(names.get(slip)));
  return `No file matches; ignored ones are left out.${near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : ''}`;
}
