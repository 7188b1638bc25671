/** A valid policy as YAML, with further fields of its spec after it. */
export function policyText(name: string, rest = ''): string {
  return `apiVersion: operator.technomad.dev/v1
kind: ImagePolicy
metadata: {name: ${name}, namespace: shop}
spec:
  image: harbor.example.com/shop/${name}
  select: {semver: {}}
  targets:
    - {kind: Deployment, name: ${name}}
${rest}`;
}
