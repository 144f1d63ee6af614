import { t } from '../../../protocol/text/l10n.ts';
export interface DeviceInfo {
  gpu: string | false;
  gpuLayers: number;
  layers: number;
}

export function deviceText({ gpu, gpuLayers, layers }: DeviceInfo): string {
  if (gpu === false) return t('the CPU');
  if (gpuLayers === 0) return t('the CPU (no layer fits on {0})', gpu);
  return gpuLayers < layers
    ? t('the GPU ({0}, {1} of {2} layers, the others on the CPU)', gpu, gpuLayers, layers)
    : t('the GPU ({0}, {1} of {2} layers)', gpu, gpuLayers, layers);
}
