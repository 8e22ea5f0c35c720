# SPDX-License-Identifier: Apache-2.0
"""Certificates of tests, by openssl."""
import subprocess


def certificates(directory):
    """A CA, and what it has signed for a server on loopback and for who asks it."""
    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=30, cwd=directory)

    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *curve, "-days", "2", "-subj", "/CN=CA of the test", "-keyout", "ca.key", "-out", "ca.pem")
    (directory / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for name in ("server", "client"):
        openssl("req", *curve, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                "-extfile", "names", "-out", f"{name}.pem")
    return directory
