export const isArchive = (file: string): boolean => /\.bmad$/i.test(file);

/** Name prefix of a folder during unpacking. */
export const unfinished = '.new-';
