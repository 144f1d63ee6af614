export const isArchive = (file: string): boolean => /\.bmad$/i.test(file);

export const unfinishedUnpackMarker = '.new-';
