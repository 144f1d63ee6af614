const part = /-(\d{5})(-of-(\d{5})\.gguf)$/i;

/** Whether this is a later file of a model that is split into several: the first one is what is loaded. */
export const isLaterPart = (path: string): boolean => Number(part.exec(path)?.[1] ?? 1) > 1;

/** The files of the model that a file belongs to, there or not, first one first; of a model in one piece the file itself. */
export function splitModelParts(path: string): string[] {
  const count = Number(part.exec(path)?.[3] ?? 1);
  if (count <= 1) return [path];
  return Array.from({ length: count }, (_, index) =>
    path.replace(part, (_, __, rest) => `-${String(index + 1).padStart(5, '0')}${rest}`),
  );
}
