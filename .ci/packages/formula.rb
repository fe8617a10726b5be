# The formula of a Homebrew tap: .ci/package fills in version and checksums of the archives of .ci/release.
class McpRev < Formula
  desc "Bridge, record, check, convert and compare Model Context Protocol messages"
  homepage "https://github.com/mcp-revisions/mcp-revisions"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@RELEASE@/mcp-rev-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "@RELEASE@/mcp-rev-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "@RELEASE@/mcp-rev-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@RELEASE@/mcp-rev-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "mcp-rev"
    generate_completions_from_executable(bin/"mcp-rev", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/mcp-rev --version")
  end
end
