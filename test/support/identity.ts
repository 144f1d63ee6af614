import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

const day = 86_400_000;

/** What a server shows, and proves to be. */
export interface Identity {
  name: string;
  /** PEM. */
  key: string;
  certificate: string;
}

interface Issue {
  /** Milliseconds from now. */
  from?: number;
  to?: number;
  /** Absent: it signs itself. */
  issuer?: Identity;
}

/** A new key and an X.509 certificate (version 1: no extensions) for it. Made here, so that no key is kept anywhere. */
export function createIdentity(name: string, { from = -day, to = day, issuer }: Issue = {}): Identity {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const signer: KeyObject = issuer ? createPrivateKey(issuer.key) : privateKey;
  const ecdsaWithSha256 = der(0x30, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const body = der(
    0x30,
    der(0x02, Buffer.from([1 + Math.floor(Math.random() * 126)])),
    ecdsaWithSha256,
    derName(issuer?.name ?? name),
    der(0x30, derTime(from), derTime(to)),
    derName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, signer));
  const lines =
    der(0x30, body, ecdsaWithSha256, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  const certificate = ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
  return { name, key, certificate };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/** `CN=name`. */
function derName(name: string): Buffer {
  const commonName = der(0x06, Buffer.from('550403', 'hex'));
  return der(0x30, der(0x31, der(0x30, commonName, der(0x0c, Buffer.from(name)))));
}

/** Seconds are as fine as it gets: `261120190739Z`. */
function derTime(fromNow: number): Buffer {
  const digits = new Date(Date.now() + fromNow).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}
