/** What a registry holds beside an image, before anybody has judged it. */
export type FoundSignature = SimpleSignature | BundleSignature | UnreadableSignature;

/** What cosign 2 makes: a layer of the image `sha256-….sig`, its annotations, and its content, which was signed. */
export interface SimpleSignature {
  readonly kind: 'simple';
  readonly payload: Buffer;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What cosign 3 makes: a Sigstore bundle, which refers to the image. */
export interface BundleSignature {
  readonly kind: 'bundle';
  readonly json: Buffer;
}

/** What should be a signature, and cannot even be read. */
export interface UnreadableSignature {
  readonly kind: 'unreadable';
  readonly why: string;
}
