/** What a loaded model runs on. */
export interface Place {
  /** `cuda`, `metal`, `vulkan`; false: the CPU alone. */
  gpu: string | false;
  /** Of the model, on the GPU. */
  gpuLayers: number;
  layers: number;
}

/** `the CPU`, `the GPU (cuda, 33 of 33 layers)`, `the GPU (vulkan, 12 of 33 layers, the others on the CPU)`. */
export function placeInWords({ gpu, gpuLayers, layers }: Place): string {
  if (gpu === false || gpuLayers === 0) return gpu === false ? 'the CPU' : `the CPU (no layer fits on ${gpu})`;
  return `the GPU (${gpu}, ${gpuLayers} of ${layers} layers${gpuLayers < layers ? ', the others on the CPU' : ''})`;
}
