/**
 * Tells if a command has a terminal as its input. Package managers of Node and what they start look for one to decide how they work: a test
 * runner then watches the files and does not end. A command in the background has nobody who waits for it.
 */
export const takesInput = (line: string, isBackground: boolean): boolean => !isBackground && !nodePackages.test(line);

const nodePackages = /(?:^|[^\w.-])(?:npm|npx|pnpm|pnpx|yarn|bun|bunx|corepack|vite|vitest|nodemon)(?![\w.-])/;
