/** What is said about attestations of vulnerabilities, and about whatever else is attached to an image, in Chinese. */
export const attestationsZh: Readonly<Record<string, string>> = {
  'the registry with the attestations': '存放证明的镜像仓库',
  'keyless attestations do not count: the configuration has no verification.trustRootFile to verify them with':
    '无密钥的证明不算数：配置中没有用来验证它们的 verification.trustRootFile',
  'there are more attestations than are read: {0} are left out': '证明的数量超过读取的上限：略去了 {0} 个',
  'there are more attestations than are read at once: {0}, of {1} bytes together': '证明的数量超过一次读取的上限：{0} 个，共 {1} 字节',
  'an attestation': '一个证明',
  'the attestations of its {0} platforms are not read, because at most {1} are': '没有读取其 {0} 个平台的证明，因为最多读取 {1} 个',
  'no attestation of {0} about {1} counts, so that those about the other platforms do not':
    '{0} 关于 {1} 的证明都不算数，因此关于其他平台的也不算数',
  'the reports of {0} about all platforms have too many vulnerabilities together': '{0} 关于所有平台的报告合计漏洞过多',
  'its record of a scan': '它的扫描记录',
  'it does not say when the scan ended (metadata.scanFinishedOn)': '它没有说明扫描何时结束（metadata.scanFinishedOn）',
  'its result is not one of {0} as JSON': '它的结果不是 {0} 的 JSON 格式',
  'its result lists vulnerabilities in another way than the scanner does': '它的结果列出漏洞的方式与该扫描器不同',
  'its document': '它的文档',
  'it does not say when its statement about {0} was made': '它没有说明关于 {0} 的声明何时作出',
  'it has no statement about this image': '它没有关于该镜像的声明',
  'an attestation cannot be read: {0}': '无法读取一个证明：{0}',
  'an attestation of vulnerabilities is not signed by {0}{1}': '一个漏洞证明没有由以下者签名：{0}',
  'an attestation of vulnerabilities by {0} is about {1}, and not about this image': '{0} 的漏洞证明针对 {1}，而不是该镜像',
  'the attestation by {0}': '{0} 的证明',
  'reading {0} of {1}@{2} took longer than {3} min': '读取 {1}@{2} 的{0}超过 {3} 分钟',
  '{0} is not a manifest of {1}': '{0} 不是{1}的清单',
  '{0} of {1} bytes is too large': '{0}有 {1} 字节，过大',
  'the registry does not hold {0}, which should be {1}': '镜像仓库中没有 {0}，它应当是{1}',
  'it is not signed': '它没有签名',
};
