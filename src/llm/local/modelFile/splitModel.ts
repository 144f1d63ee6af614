const part = /-(\d{5})(-of-(\d{5})\.gguf)$/i;

export const isLaterModelPart = (path: string): boolean => Number(part.exec(path)?.[1] ?? 1) > 1;

/** Returns the paths of all parts in order, existing or not; a model in one file returns its path. */
export function splitModelParts(path: string): string[] {
  const count = Number(part.exec(path)?.[3] ?? 1);
  if (count <= 1) return [path];
  return Array.from({ length: count }, (_, index) =>
    path.replace(part, (_, __, rest) => `-${String(index + 1).padStart(5, '0')}${rest}`),
  );
}
