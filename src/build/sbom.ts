import { type PackageFacts, readNpmLockFile } from './shippedPackages.ts';

/** Returns the shipped packages in CycloneDX 1.5 format (https://cyclonedx.org/docs/1.5/json). The output is deterministic. */
export function billOfMaterials(
  product: { name: string; version: string; license: string },
  packages: PackageFacts[],
  llamaCpp: string | undefined,
): object {
  const { packages: locked } = readNpmLockFile();
  const components = packages.map((one) => {
    const sum = locked[one.folder]?.integrity ?? locked[`node_modules/${one.name}`]?.integrity;
    return { ...component(one), ...(sum?.startsWith('sha512-') && { hashes: [hashOf(sum)] }) };
  });
  const own = {
    type: 'application',
    name: product.name,
    version: product.version,
    licenses: [{ license: { id: product.license } }],
  };
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { ...own, 'bom-ref': `${product.name}@${product.version}` } },
    components: [...components, ...(llamaCpp ? [engineOf(llamaCpp)] : [])],
  };
}

function component({ name, version, licence }: PackageFacts) {
  const [group, plain] = name.startsWith('@') ? (name.split('/') as [string, string]) : [undefined, name];
  const purl = `pkg:npm/${group ? `${encodeURIComponent(group)}/` : ''}${plain}@${version}`;
  const licenses = [/[ (]/.test(licence) ? { expression: licence } : { license: { id: licence } }];
  return { type: 'library', 'bom-ref': purl, ...(group && { group }), name: plain, version, licenses, purl };
}

function engineOf(release: string) {
  const purl = `pkg:github/ggml-org/llama.cpp@${release}`;
  const licenses = [{ license: { id: 'MIT' } }];
  return { type: 'library', 'bom-ref': purl, name: 'llama.cpp', version: release, licenses, purl };
}

const hashOf = (integrity: string) => ({
  alg: 'SHA-512',
  content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex'),
});
