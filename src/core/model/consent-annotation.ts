/** The consent annotation of a target, a followed policy or their Namespace: the namespaces whose policies may change or follow it, "shop,ops", or "*" for all. */
export const consentAnnotation = 'operator.technomad.dev/allow-policies-from';
