/** What an archive of a package is called. */
export const isArchive = (file: string): boolean => /\.bmad$/i.test(file);

/** How the name of a folder begins that one is being unpacked to. */
export const unfinished = '.new-';
