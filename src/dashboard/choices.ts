/** The choices of the page of approvals, as its form sends them: `shop/web 1.2.3 sha256:…`. Pure. */

export interface Choice {
  readonly namespace: string;
  readonly name: string;
  readonly tag: string;
  readonly digest: string;
}

interface Approvable {
  readonly namespace: string;
  readonly name: string;
  readonly pendingApproval?: { readonly tag: string; readonly digest?: string | undefined } | undefined;
}

/** The choice for the image that waits for approval; undefined if its digest is not known. */
export function choiceOf({ namespace, name, pendingApproval: pending }: Approvable): string | undefined {
  return pending?.digest === undefined ? undefined : `${namespace}/${name} ${pending.tag} ${pending.digest}`;
}

/** Reads a choice; undefined if the text is not a choice. */
export function parseChoice(text: string): Choice | undefined {
  const [, namespace, name, tag, digest] =
    /^([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253}) ([\w.-]{1,128}) (sha256:[0-9a-f]{64})$/.exec(text) ?? [];
  return namespace !== undefined && name !== undefined && tag !== undefined && digest !== undefined
    ? { namespace, name, tag, digest }
    : undefined;
}
