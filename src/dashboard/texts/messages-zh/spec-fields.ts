/** What is said about single fields of policies, in Chinese. */
export const specFieldsZh: Readonly<Record<string, string>> = {
  'write only the repository, without a tag or digest: {0} chooses the tag': '请只写仓库，不带标签或摘要：由 {0} 选择标签',
  'an image name is in lower case and has no scheme, such as "harbor.example.com/shop/web"':
    '镜像名称为小写，没有协议，例如 "harbor.example.com/shop/web"',
  'write {0}: an image name is in lower case and has no scheme': '请写 {0}：镜像名称为小写，没有协议',
  'lower-case letters, digits, "-" and "." between letters or digits': '小写字母和数字，中间可有“-”和“.”',
  'lower-case letters, digits and "-" between letters or digits': '小写字母和数字，中间可有“-”',
  'a key of a Secret has letters, digits, "-", "_" and "."': 'Secret 的键由字母、数字、“-”、“_”和“.”组成',
  'owner/name, in which "*" stands for any characters': 'owner/name，其中“*”代表任意字符',
  'a kind as Kubernetes writes it, such as "Deployment"': 'Kubernetes 写法的类型，例如 "Deployment"',
  'hours, minutes and seconds in this order: "90s", "30m", "1h30m"': '依次为小时、分钟和秒："90s"、"30m"、"1h30m"',
  'write a duration longer than zero and at most {0}h, such as "30m"': '请写大于零且不超过 {0}h 的时长，例如 "30m"',
  'write repetition counts of at most 128, the length of the longest tag': '重复次数最多写 128，即最长标签的长度',
  '"{0}" is not valid: {1}': '“{0}”无效：{1}',
  '"{0}" is not the name of a label, such as "app" or "app.kubernetes.io/name"': '“{0}”不是 "app" 或 "app.kubernetes.io/name" 这样的标签名',
  'a tag has letters, digits, "_", "." and "-", and does not start with "." or "-"':
    '标签由字母、数字、“_”、“.”和“-”组成，不以“.”或“-”开头',
  'write two different tags': '请写两个不同的标签',
  'write exactly one of {0}; for example "semver: {}"': '请恰好写 {0} 之一；例如 "semver: {}"',
  'write exactly one of {0}; for example "report: {}"': '请恰好写 {0} 之一；例如 "report: {}"',
  'extract takes its groups from allow: write allow as well, such as "^v(?P<version>.*)$" with extract "$version"':
    'extract 的组来自 allow：请同时写 allow，例如 "^v(?P<version>.*)$" 和 extract "$version"',
  'a label value has letters, digits, "-", "_" and "." between letters or digits': '标签值为字母和数字，中间可有“-”、“_”和“.”',
  'In and NotIn need values; Exists and DoesNotExist take none': 'In 和 NotIn 需要值；Exists 和 DoesNotExist 没有值',
  'an empty selector would select everything: write matchLabels or matchExpressions':
    '空的选择器会选中一切：请写 matchLabels 或 matchExpressions',
  'names between dots, and [0] for the first entry of a list: "spec.values.image.tag"':
    '点之间的名称，列表的第一个条目为 [0]："spec.values.image.tag"',
  'write either image, for a field with the whole reference, or tag and digest where they have fields of their own':
    '字段为完整引用时请写 image；有各自的字段时请写 tag 和 digest',
  'image holds the repository already: remove repository, or write tag instead of image':
    'image 中已有仓库：请移除 repository，或以 tag 代替 image',
  'group and version: "argoproj.io/v1alpha1"': '组和版本："argoproj.io/v1alpha1"',
  'write either name or selector': '请写 name 或 selector 之一',
  'fields are for custom resources: write apiVersion as well, such as helm.toolkit.fluxcd.io/v2':
    'fields 用于定制资源：请同时写 apiVersion，例如 helm.toolkit.fluxcd.io/v2',
  'fields are for custom resources without containers: remove fields, or containers, initContainers and volumes':
    'fields 用于没有容器的定制资源：请移除 fields，或移除 containers、initContainers 和 volumes',
  'a time of the day from "00:00" to "23:59"': '"00:00" 到 "23:59" 的时刻',
  'from and to are the same time: write when the window closes': 'from 和 to 是同一时刻：请写时间窗口何时关闭',
  'approvals without mode: Approval would have no effect: write mode: Approval, or remove approvals':
    '没有 mode: Approval 时 approvals 不起作用：请写 mode: Approval，或移除 approvals',
  'waves need to know which rollouts fail: write onFailure: Rollback or Hold, and no watch: false':
    '分批需要知道哪些滚动更新失败：请写 onFailure: Rollback 或 Hold，不写 watch: false',
  '"{0}" is not a time zone: write an IANA name such as "Europe/Berlin", or UTC':
    '“{0}”不是时区：请写 IANA 名称，例如 "Europe/Berlin"，或 UTC',
  'the policy': '策略',
  'the URL of an issuer, such as "https://token.actions.githubusercontent.com"':
    '签发者的 URL，例如 "https://token.actions.githubusercontent.com"',
  'write keys, keyless or both': '请写 keys、keyless 或两者',
  'operating system and architecture: "linux/amd64"': '操作系统和架构："linux/amd64"',
  'a repository without a tag, in which "*" stands for any characters: "harbor.example.com/shop/*"':
    '不带标签的仓库，其中“*”代表任意字符："harbor.example.com/shop/*"',
  'write only repositories, without a tag: the action applies to every tag of them': '请只写仓库，不带标签：操作用于它们的每个标签',
  'a URL without a password, such as "https://gitlab.example.com"': '不带密码的 URL，例如 "https://gitlab.example.com"',
  '"$source", or a path such as "shop/web"': '"$source"，或 "shop/web" 这样的路径',
  'the name of a branch or tag': '分支或标签的名称',
  'letters, digits, ".", "_", "-", "/" and spaces': '字母、数字、“.”、“_”、“-”、“/”和空格',
  'write either event, for repository_dispatch, or workflow and ref, for workflow_dispatch':
    '请写 event（用于 repository_dispatch），或 workflow 和 ref（用于 workflow_dispatch）',
  'a workflow is started for a branch or tag: write workflow and ref together': '工作流针对分支或标签启动：请同时写 workflow 和 ref',
  'a repository of the CI system, in which "*" stands for any characters: "shop/*"': 'CI 系统的仓库，其中“*”代表任意字符："shop/*"',
  '"$tag-base.$date", with an addition at most, so that other policies recognize the image':
    '"$tag-base.$date"，最多加上后缀，使其他策略能认出该镜像',
  'the name of a rule': '规则的名称',
  'never applies, because onNewBase[{0}] comes first and applies to the same images: write what is more specific first, and report last':
    '永远不会使用，因为 onNewBase[{0}] 在前面并用于相同的镜像：请把更具体的写在前面，report 写在最后',
  'there is no rule "{0}": the rules are {1}': '没有规则“{0}”：规则有 {1}',
  'write the path without "." and ".." between slashes': '请写斜杠之间没有“.”和“..”的路径',
  'is not a URL': '不是 URL',
  'write the URL without "?" and "#"': '请写不带“?”和“#”的 URL',
  'write an interval of at least 1m: a base is polled once a minute at most': '间隔请至少写 1m：基础镜像每分钟最多轮询一次',
  'rebase.sign signs images with whatever is pushed as their base: write verify, so that only a signed base is used, or allow: [BaseUnverified]':
    'rebase.sign 会为镜像签名，无论推送的基础镜像是什么：请写 verify，使只用有签名的基础镜像，或写 allow: [BaseUnverified]',
  'write a spec: image and select': '请写 spec：image 和 select',
  'the target': '通知目标',
  'an address such as ops@example.com': '地址，例如 ops@example.com',
  'write email, with from and to, with type email only': '只有 type email 才写带 from 和 to 的 email',
  'write secretRef, a signing key, a token or the key of an API, with type {0} only':
    '只有 type {0} 才写 secretRef（签名密钥、令牌或 API 的密钥）',
  'write github, with an environment, with type githubDeployment only': '只有 type githubDeployment 才写带环境的 github',
  'write commitStatus, with an environment, with type {0} only': '只有 type {0} 才写带环境的 commitStatus',
  'a template is for messages: remove it, or write another type': 'template 用于消息：请移除它，或写另一种 type',
  'write urlSecretRef: the Secret with the URL': '请写 urlSecretRef：含有 URL 的 Secret',
  'write a spec: type and urlSecretRef': '请写 spec：type 和 urlSecretRef',
  'so it sends nothing': '因此不发送任何内容',
};
