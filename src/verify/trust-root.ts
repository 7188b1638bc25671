import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toTrustMaterial, type TrustMaterial } from '@sigstore/verify';

/** Reads a `trusted_root.json` of Sigstore; throws an Error that says what is wrong with it. */
export function readTrustRoot(text: string): TrustMaterial {
  const root = TrustedRoot.fromJSON(JSON.parse(text));
  const missing = [
    root.certificateAuthorities.length === 0 && 'certificateAuthorities',
    root.ctlogs.length === 0 && 'ctlogs',
    root.tlogs.length === 0 && 'tlogs',
  ].filter((part) => part !== false);
  if (missing.length > 0) throw new Error(`it is no trusted_root.json: it has no ${missing.join(', ')}`);
  return toTrustMaterial(root);
}
