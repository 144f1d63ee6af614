import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Settings that the editor shows under one heading. */
export interface ManifestSection {
  title: string;
  order: number;
  properties: Record<string, ManifestSetting>;
}

/** A setting as `package.json` declares it: its JSON schema, and what is told of it. */
export interface ManifestSetting extends Record<string, unknown> {
  default: unknown;
  /** Within its section, from 1. */
  order: number;
  scope: string;
  markdownDescription?: string;
  description?: string;
}

const manifest = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../package.json'), 'utf8'));

/** In the order in which the editor shows them. */
export const manifestSections: ManifestSection[] = manifest.contributes.configuration;

/** All of them by name. */
export const manifestSettings: Record<string, ManifestSetting> = Object.assign(
  {},
  ...manifestSections.map(({ properties }) => properties),
);
