// For tests: a certificate and its key in files.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

namespace sluice::net {

// A self-signed certificate for 127.0.0.1 and its key, in files that live as long as this object.
class Certificate {
 public:
  Certificate() : directory_(testing::TempDir() + "sluice_tls_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(directory_);
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* x509 = X509_new();
    X509_set_version(x509, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x509), 3600L * 24 * 365);
    X509_set_pubkey(x509, key);
    X509_NAME* name = X509_get_subject_name(x509);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("sluice test"), -1, -1, 0);
    X509_set_issuer_name(x509, name);
    X509_EXTENSION* names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
    X509_add_ext(x509, names, -1);
    X509_EXTENSION_free(names);
    X509_sign(x509, key, EVP_sha256());
    WritePem(certificate(), [&](FILE* file) { PEM_write_X509(file, x509); });
    WritePem(key_file(), [&](FILE* file) {
      PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    });
    X509_free(x509);
    EVP_PKEY_free(key);
  }
  ~Certificate() { std::filesystem::remove_all(directory_); }

  std::string certificate() const { return directory_ + "/cert.pem"; }
  std::string key_file() const { return directory_ + "/key.pem"; }

 private:
  template <typename F>
  static void WritePem(const std::string& path, F write) {
    FILE* file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    write(file);
    std::fclose(file);
  }
  std::string directory_;
};

}  // namespace sluice::net
